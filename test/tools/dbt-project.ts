import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const FOLDER = fileURLToPath(new URL("../../examples/dbt/", import.meta.url));

/** A test in dbt's YAML: its name, or its name with arguments. */
export type DataTest = string | Readonly<Record<string, { readonly arguments: Readonly<Record<string, unknown>> }>>;

interface Column {
  readonly name: string;
  readonly data_tests?: readonly DataTest[];
}

interface Described {
  readonly name: string;
  readonly columns: readonly Column[];
}

interface SourceTable extends Described {
  readonly config?: { readonly loaded_at_field: string; readonly freshness: Readonly<Record<string, unknown>> };
}

interface Source {
  readonly name: string;
  readonly schema: string;
  readonly tables: readonly SourceTable[];
}

interface Properties {
  readonly sources?: readonly Source[];
  readonly models?: readonly Described[];
}

export interface Model {
  readonly name: string;
  /** Includes its Jinja. */
  readonly sql: string;
}

export interface DbtProject {
  readonly sources: readonly Source[];
  readonly described: readonly Described[];
  readonly models: readonly Model[];
}

export function readDbtProject(): DbtProject {
  const folder = join(FOLDER, "models");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  const properties = files.filter((name) => name.endsWith(".yml")).map((name) => parse(read(name)) as Properties);
  return {
    sources: properties.flatMap(({ sources = [] }) => sources),
    described: properties.flatMap(({ models = [] }) => models),
    models: files
      .filter((name) => name.endsWith(".sql"))
      .map((name) => ({ name: basename(name, ".sql"), sql: read(name) })),
  };
}

const JINJA = /\{\{ (?:source\('(\w+)', '(\w+)'\)|ref\('(\w+)'\)) \}\}/g;

/** The models that the model depends on. */
const refsOf = ({ sql }: Model) => [...sql.matchAll(JINJA)].flatMap(([, , , model]) => model ?? []);

/** The SQL that dbt would send for the model, with its own models in `schema`. Throws for undeclared sources. */
export function compile({ sources }: DbtProject, { name, sql }: Model, schema: string): string {
  const compiled = sql.replace(JINJA, (_, source?: string, table?: string, model?: string) => {
    if (model !== undefined) return `${schema}.${model}`;
    const found = sources.find((one) => one.name === source && one.tables.some((each) => each.name === table));
    if (found === undefined) throw new Error(`${name} takes ${source}.${table}, which no source declares`);
    return `${found.schema}.${table}`;
  });
  if (/\{[{%#]/.test(compiled)) throw new Error(`${name} has Jinja beyond source() and ref()`);
  return compiled;
}

/** Models in order of their dependencies. */
export function inOrder(models: readonly Model[]): Model[] {
  const done = new Map<string, Model>();
  const add = (model: Model) => {
    if (done.has(model.name)) return;
    for (const name of refsOf(model)) {
      const other = models.find((one) => one.name === name);
      if (other === undefined) throw new Error(`${model.name} takes ${name}, which is no model`);
      add(other);
    }
    done.set(model.name, model);
  };
  models.forEach(add);
  return [...done.values()];
}

/** The query of a data test, which returns the rows that violate it. */
export function toTestQuery(test: DataTest, table: string, column: string, schema: string): string {
  if (test === "not_null") return `SELECT * FROM ${table} WHERE ${column} IS NULL`;
  if (test === "unique") return `SELECT ${column} FROM ${table} GROUP BY 1 HAVING count(*) > 1`;
  const [name, { arguments: given } = { arguments: {} }] =
    typeof test === "string" ? [test] : (Object.entries(test)[0] ?? [""]);
  if (name === "accepted_values" && Array.isArray(given.values)) {
    return `SELECT * FROM ${table} WHERE ${column} NOT IN (${given.values.map((value) => `'${String(value)}'`).join(", ")})`;
  }
  const [, other] = /^ref\('(\w+)'\)$/.exec(String(given.to)) ?? [];
  if (name === "relationships" && other !== undefined) {
    const target = `SELECT FROM ${schema}.${other} o WHERE o.${String(given.field)} = t.${column}`;
    return `SELECT * FROM ${table} t WHERE NOT EXISTS (${target})`;
  }
  throw new Error(`${JSON.stringify(test)} on ${table}.${column} is a test that is not known here`);
}
