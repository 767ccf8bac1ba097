import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { HOSTILE_OWNER, useAnalystsDatabase } from "./analysts-database.ts";

const FOLDER = new URL("../../deploy/grafana/", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, FOLDER), "utf8");

interface Source {
  readonly type: string;
  readonly uid: string;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly datasource?: Source;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly rawSql: string; readonly format: string; readonly datasource: Source }[];
}

interface Dashboard {
  readonly uid: string;
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly panels: readonly Panel[];
}

const dashboard = JSON.parse(read("dashboards/simcat.json")) as Dashboard;
const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ rawSql, format }) => ({ title, rawSql, format })),
);

/** Formats a value as Grafana's `${name:sqlstring}` does. */
const sqlStrings = (values: readonly string[]) => values.map((value) => `'${value.replaceAll("'", "''")}'`).join(",");

/** Replaces variables and the macros of the Postgres source, as Grafana does. */
function substitute(
  sql: string,
  values: { readonly owner: readonly string[]; readonly package: readonly string[] },
): string {
  return sql
    .replace(/\$__timeGroupAlias\((\w+), \$__interval\)/g, 'floor(extract(epoch from $1)/3600)*3600 AS "time"')
    .replace(/\$__timeFilter\((\w+)\)/g, "$1 BETWEEN now() - interval '7 days' AND now()")
    .replace(/\$\{owner:sqlstring\}/g, () => sqlStrings(values.owner))
    .replace(/\$\{package:sqlstring\}/g, () => sqlStrings(values.package));
}

const SELECTIONS = [
  { what: "a plain owner", owner: ["ann"], package: ["landscape"] },
  { what: "a hostile owner", owner: ["ann", HOSTILE_OWNER], package: ["landscape", "(none)", "it's"] },
  { what: "an empty organization's nothing", owner: [], package: [] },
];

describe("the Grafana dashboard", () => {
  const analysts = useAnalystsDatabase();

  test("has a fixed uid and queries only the provisioned source", () => {
    expect(dashboard.uid).toBe("simcat-overview");
    const { datasources } = parse(read("provisioning/datasources/simcat.yaml")) as {
      datasources: Record<string, unknown>[];
    };
    expect(datasources.map(({ uid, type, user }) => ({ uid, type, user }))).toEqual([
      { uid: "simcat-postgres", type: "grafana-postgresql-datasource", user: "simcat_reader" },
    ]);
    const source = { type: "grafana-postgresql-datasource", uid: "simcat-postgres" };
    const asked = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource));
    expect(new Set(asked.map((one) => JSON.stringify(one)))).toEqual(new Set([JSON.stringify(source)]));
    const { providers } = parse(read("provisioning/dashboards/simcat.yaml")) as {
      providers: Record<string, unknown>[];
    };
    expect(providers.map(({ name, type }) => ({ name, type }))).toEqual([{ name: "simcat", type: "file" }]);
  });

  test("has panels with unique ids that do not overlap", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test("reads only views of simcat_report", () => {
    const all = [...queries.map(({ rawSql }) => rawSql), ...dashboard.templating.list.map(({ query }) => query)];
    const tables = all.flatMap((sql) => [...sql.matchAll(/\b(?:FROM|JOIN)\s+([\w.]+)/g)].map(([, name = ""]) => name));
    expect(tables.length).toBeGreaterThanOrEqual(all.length);
    // `extract(epoch FROM age)` contains a FROM too.
    expect(tables.filter((name) => !name.startsWith("simcat_report.") && !["age", "duration"].includes(name))).toEqual(
      [],
    );
    expect(queries.length).toBeGreaterThan(15);
  });

  test("offers owners and packages, hostile names included", async () => {
    const reader = await analysts.reader();
    const offered = Object.fromEntries(
      await Promise.all(
        dashboard.templating.list.map(async ({ name, query }) => {
          const { rows } = await reader.query<string[]>({ text: query, rowMode: "array" });
          return [name, rows.map(([value]) => value)];
        }),
      ),
    );
    expect(offered).toEqual({ owner: [HOSTILE_OWNER, "ann", "bob"], package: ["(none)", "landscape"] });
  });

  test.each(SELECTIONS)("has queries that simcat_reader may run, with $what", async (selection) => {
    const reader = await analysts.reader();
    for (const { title, rawSql, format } of queries) {
      const sql = substitute(rawSql, selection);
      expect(sql, title).not.toMatch(/\$(?:__|\{|\w)/);
      const { fields } = await reader.query(sql).catch((error: unknown) => {
        throw new Error(`the panel ${title} fails: ${String(error)}\n${sql}`);
      });
      if (format === "time_series")
        expect(fields.map(({ name }) => name).slice(0, 2), title).toEqual(["time", "metric"]);
    }
    const { rows } = await reader.query("SELECT count(*)::int AS libraries FROM simcat_report.stale_libraries");
    expect(rows).toEqual([{ libraries: 26 }]);
  });

  test("counts the selected rows", async () => {
    const reader = await analysts.reader();
    const answer = async (title: string, owner: string, name: string) => {
      const query = queries.find((one) => one.title === title);
      const { rows } = await reader.query({
        text: substitute(query?.rawSql ?? "", { owner: [owner], package: [name] }),
        rowMode: "array",
      });
      return rows;
    };
    expect(await answer("Libraries", "ann", "landscape")).toEqual([["2"]]);
    expect(await answer("Libraries", HOSTILE_OWNER, "landscape")).toEqual([["23"]]);
    expect(await answer("Libraries", "bob", "(none)")).toEqual([["1"]]);
    expect(await answer("Stored", "bob", "(none)")).toEqual([[null]]);
    expect(await answer("Parents without results", "ann", "landscape")).toHaveLength(2);
    expect(await answer("Package versions in use", "ann", "landscape")).toEqual([
      ["landscape 4.3.6", "24", null, null],
      ["landscape 4.0.10", null, "1", null],
    ]);
  });
});
