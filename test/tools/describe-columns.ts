import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Document, isMap, isSeq, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";

/** The dbt package. */
export const FOLDER = fileURLToPath(new URL("../../examples/dbt/", import.meta.url));

/** A view of simcat_report with its comments. */
export interface CommentedView {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly comment: string }[];
}

/** The view that a staging model selects its columns from. */
const viewOf = (model: string) =>
  /^from \{\{ source\('simcat', '(\w+)'\)/m.exec(
    readFileSync(join(FOLDER, `models/staging/${model}.sql`), "utf8"),
  )?.[1];

/** Columns of staging models that have the name of a view's column and another meaning. */
const OWN = new Set(["stg_simcat__scenarios.is_result", "stg_simcat__activity.is_result"]);

/** `sources.yml` with all views, all their columns and their comments. Tests and configuration stay as they are. */
export function describeSources(text: string, views: readonly CommentedView[]): string {
  const document = parseDocument(text);
  const tables = sequence(document.getIn(["sources", 0, "tables"]));
  tables.items = views.map((view) => {
    const table = findNamed(tables, view.name) ?? mapOf(document, { name: view.name, columns: [] });
    describe(document, table, view.comment);
    const columns = sequence(table.get("columns"));
    columns.items = view.columns.map(({ name, comment }) => {
      const column = findNamed(columns, name) ?? mapOf(document, { name });
      describe(document, column, comment);
      return column;
    });
    return table;
  });
  return document.toString({ lineWidth: 0 });
}

/** `staging.yml` with the comments of the columns that a model passes on unchanged. */
export function describeStaging(text: string, views: readonly CommentedView[]): string {
  const document = parseDocument(text);
  for (const model of sequence(document.get("models")).items.filter(isMap)) {
    const name = String(model.get("name"));
    const view = views.find((one) => one.name === viewOf(name));
    if (view === undefined) throw new Error(`${name} selects from no view`);
    for (const column of sequence(model.get("columns")).items.filter(isMap)) {
      const found = view.columns.find((one) => one.name === column.get("name"));
      if (found && !OWN.has(`${name}.${found.name}`)) describe(document, column, found.comment);
    }
  }
  return document.toString({ lineWidth: 0 });
}

function sequence(node: unknown): YAMLSeq {
  if (!isSeq(node)) throw new Error("the file has no list where one is expected");
  return node;
}

const findNamed = (list: YAMLSeq, name: string): YAMLMap | undefined =>
  list.items.filter(isMap).find((item) => item.get("name") === name);

function mapOf(document: Document, value: object): YAMLMap {
  const node = document.createNode(value);
  if (!isMap(node)) throw new TypeError("not an object");
  return node;
}

/** Sets the description, as the second key. */
function describe(document: Document, item: YAMLMap, description: string): void {
  item.delete("description");
  item.items.splice(1, 0, document.createPair("description", description));
}
