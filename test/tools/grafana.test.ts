import { readFileSync } from "node:fs";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import dashboard from "../../deploy/grafana/dashboards/simcat.json" with { type: "json" };
import { HOSTILE_OWNER, OWNER_WHO_LEFT, useAnalystsDatabase } from "./analysts-database.ts";

const FOLDER = new URL("../../deploy/grafana/", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, FOLDER), "utf8");

const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ rawSql, format }) => ({ title, rawSql, format })),
  ),
  // A shade over all panels, from `time` to `timeend`.
  ...dashboard.annotations.list.map(({ name, target: { rawSql } }) => ({ title: name, rawSql, format: "time_series" })),
];

/** Formats a value as Grafana's `${name:sqlstring}` does. */
const sqlStrings = (values: readonly string[]) => values.map((value) => `'${value.replaceAll("'", "''")}'`).join(",");

const ALL = "All";

type Variable = "owner" | "package";
type Selection = Readonly<Record<Variable, readonly string[] | typeof ALL>>;

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number) => `'${new Date(Date.now() - hours * HOUR_MS).toISOString()}'`;
const [FROM, TO] = [hoursAgo(7 * 24), hoursAgo(-1)];

/** The macros of Grafana's Postgres source, for the last seven days. */
const MACROS: Readonly<Record<string, (column: string) => string>> = {
  timeFilter: (column) => `${column} BETWEEN ${FROM} AND ${TO}`,
  timeFrom: () => FROM,
  timeTo: () => TO,
  timeGroupAlias: (column) => `floor(extract(epoch from ${column})/3600)*3600 AS "time"`,
};

/** Replaces variables and macros as Grafana does: the value of All is inserted as it is. */
function substitute(sql: string, selection: Selection): string {
  const chosen = dashboard.templating.list.reduce((text, { name, allValue }) => {
    const values = selection[name as Variable];
    return text.replaceAll(`\${${name}:sqlstring}`, () => (values === ALL ? allValue : sqlStrings(values)));
  }, sql);
  return chosen.replace(/\$__(\w+)\((\w*)(?:, \$__interval)?\)/g, (whole, name: string, column: string) => {
    const macro = MACROS[name];
    if (macro === undefined) throw new Error(`${whole} is no macro that is known here`);
    return macro(column);
  });
}

const SELECTIONS: readonly (Selection & { readonly what: string })[] = [
  { what: "all owners and packages", owner: ALL, package: ALL },
  { what: "a plain owner", owner: ["ann"], package: ["landscape"] },
  { what: "an owner who left", owner: [OWNER_WHO_LEFT], package: ALL },
  { what: "a hostile owner", owner: ["ann", HOSTILE_OWNER], package: ["landscape", "(none)", "it's"] },
  { what: "nothing selected", owner: [], package: [] },
];

describe("the Grafana dashboard", () => {
  const analysts = useAnalystsDatabase();
  let admin: pg.Client;
  beforeEach(async () => {
    admin = await analysts.admin();
  });

  test("is in UTC, as the daily snapshots are, and queries only the provisioned source", () => {
    const { uid, timezone, panels } = dashboard;
    expect({ uid, timezone }).toEqual({ uid: "simcat-overview", timezone: "utc" });
    const source = { type: "grafana-postgresql-datasource", uid: "simcat-postgres" };
    expect(parse(read("provisioning/datasources/simcat.yaml"))).toMatchObject({
      datasources: [{ ...source, user: "simcat_reader" }],
    });
    const used = [...panels.flatMap(({ targets = [] }) => targets), ...dashboard.annotations.list];
    for (const { datasource } of used) expect(datasource).toEqual(source);
    expect(parse(read("provisioning/dashboards/simcat.yaml"))).toMatchObject({
      providers: [{ name: "simcat", type: "file" }],
    });
  });

  test("has panels with unique ids that do not overlap", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    );
    for (const all of [ids, cells]) expect(new Set<unknown>(all).size).toBe(all.length);
  });

  test("reads only views of simcat_report", () => {
    const all = [...queries.map(({ rawSql }) => rawSql), ...dashboard.templating.list.map(({ query }) => query)];
    const tables = all.flatMap((sql) => [...sql.matchAll(/\b(?:FROM|JOIN)\s+([\w.]+)/g)].map(([, name = ""]) => name));
    expect(tables.length).toBeGreaterThanOrEqual(all.length);
    // `extract(epoch FROM age)` contains a FROM too.
    expect(tables.filter((name) => !name.startsWith("simcat_report.") && !["age", "duration"].includes(name))).toEqual(
      [],
    );
    expect(queries.length).toBeGreaterThan(22);
  });

  test("offers owners and packages, hostile names and owners who left included", async () => {
    const reader = await analysts.reader();
    const offered: Record<string, string[]> = {};
    for (const { name, query } of dashboard.templating.list) {
      const { rows } = await reader.query<string[]>({ text: query, rowMode: "array" });
      offered[name] = rows.flat();
    }
    expect(offered).toEqual({
      owner: [HOSTILE_OWNER, "ann", "bob", OWNER_WHO_LEFT],
      package: ["(none)", "landscape"],
    });
  });

  test.each(SELECTIONS)("has queries that simcat_reader may run, with $what", async (selection) => {
    const reader = await analysts.reader();
    for (const { title, rawSql, format } of queries) {
      const sql = substitute(rawSql, selection);
      expect(sql, title).not.toMatch(/\$(?:__|\{|\w)/);
      const { fields } = await reader.query(sql).catch((error: unknown) => {
        throw new Error(`the panel ${title} fails: ${String(error)}\n${sql}`);
      });
      if (format === "time_series") expect(fields[0]?.name, title).toBe("time");
    }
    const { rows } = await reader.query("SELECT count(*)::int AS libraries FROM simcat_report.stale_libraries");
    expect(rows).toEqual([{ libraries: 27 }]);
  });

  const answer = async (title: string, selection: Selection) => {
    const query = queries.find((one) => one.title === title);
    if (query === undefined) throw new Error(`the dashboard has no panel ${title}`);
    const { rows } = await admin.query({ text: substitute(query.rawSql, selection), rowMode: "array" });
    return rows;
  };
  const of = (owner: string, name: string): Selection => ({ owner: [owner], package: [name] });
  const EVERYTHING: Selection = { owner: ALL, package: ALL };

  test("counts the selected rows", async () => {
    expect(await answer("Libraries", of("ann", "landscape"))).toEqual([["2"]]);
    expect(await answer("Libraries", of(HOSTILE_OWNER, "landscape"))).toEqual([["23"]]);
    expect(await answer("Libraries", of("bob", "(none)"))).toEqual([["2"]]);
    expect(await answer("Libraries", EVERYTHING)).toEqual([["27"]]);
    expect(await answer("Parents without results", of("ann", "landscape"))).toHaveLength(2);
    expect(await answer("Package versions in use", of("ann", "landscape"))).toEqual([
      ["landscape 4.3.6", "24", null, null],
      ["landscape 4.0.10", null, "1", null],
    ]);
  });

  test("shows owners who left with All, and when one of them is selected (fault 131)", async () => {
    const kinds = async (selection: Selection) =>
      (await answer("Activity seen by simcat", selection)).map(([, kind, count]) => `${kind}: ${count}`);
    const left = ["library removed: 1", "scenario went_with_library: 1"];
    expect(await kinds(EVERYTHING)).toEqual(left);
    expect(await kinds({ owner: [OWNER_WHO_LEFT], package: ALL })).toEqual(left);
    expect(await kinds({ owner: ["ann"], package: ALL })).toEqual([]);
    const growth = await answer("Growth: libraries", EVERYTHING);
    expect(growth.map(([, libraries]) => libraries).filter((count) => count !== null)).toEqual(["28"]);
  });

  test("has a row without a value for each day without a snapshot, so that lines are interrupted", async () => {
    const trends = ["Active, quiet and stale libraries", "Storage", "Oldest content, by day"];
    for (const title of ["Growth: libraries", "Growth: scenarios and results", ...trends]) {
      const rows = await answer(title, EVERYTHING);
      expect(rows.length, title).toBeGreaterThanOrEqual(8);
      expect(rows.filter(([, value]) => value !== null).length, title).toBe(1);
      const days = rows.map(([time]) => (time as Date).getTime() / (24 * HOUR_MS));
      expect(
        days.map((day, at) => day - (days[0] ?? 0) - at).every((rest) => rest === 0),
        title,
      ).toBe(true);
    }
  });

  test("draws the trend of the storage from the first snapshot on (fault 246)", async () => {
    await admin.query(`
      INSERT INTO simcat.snapshot_days SELECT day - 1, run_id, taken_at - interval '1 day' FROM simcat.snapshot_days;
      INSERT INTO simcat.owner_days (day, owner, libraries, scenarios, results, bytes, sizes_unread)
      SELECT day - 1, owner, libraries, scenarios, results, bytes - 1024, sizes_unread FROM simcat.owner_days`);
    const rows = await answer("Storage", EVERYTHING);
    expect(rows.filter(([, stored]) => stored !== null)).toHaveLength(2);
    const [first = 0] = rows.flatMap(([, stored], at) => (stored === null ? [] : [at]));
    expect(rows.map(([, , trend]) => trend !== null)).toEqual(rows.map((_, at) => at >= first));
  });

  test("shades what is later than the last complete copy, and over 26 hours between runs (fault 394)", async () => {
    await admin.query(`
      INSERT INTO simcat.sync_runs (kind, trigger, status, started_at, finished_at, listing_complete, version)
      SELECT 'sync', 'cli', 'ok', now() - ago * interval '1 hour', now() - ago * interval '1 hour', true, '1'
      FROM unnest(ARRAY[60, 30, 5]) AS ago`);
    const [incomplete = []] = await answer("Not complete yet", EVERYTHING);
    const { rows } = await admin.query("SELECT complete_as_of, now() FROM simcat_report.data_complete_as_of");
    expect(incomplete.slice(0, 2)).toEqual(Object.values(rows[0] as object));
    // A library that no run could read: the last complete copy is not known.
    await admin.query(`
      UPDATE simcat.sync_runs SET status = 'partial', listing_complete = true;
      INSERT INTO simcat.library_sync (owner, library_name) VALUES ('ann', 'Unread')`);
    const [unread = []] = await answer("Not complete yet", EVERYTHING);
    const { rows: known } = await admin.query(
      "SELECT complete_as_of, last_whole_run_started_at FROM simcat_report.data_complete_as_of",
    );
    expect([null, unread[0]]).toEqual(Object.values(known[0] as object));
    const gaps = await answer("No run", EVERYTHING);
    const hours = (rows: readonly unknown[][]) =>
      rows.map(([from, to]) => ((to as Date).getTime() - (from as Date).getTime()) / HOUR_MS);
    expect(hours(gaps)).toEqual([30]);
    // The listing of one run came from an older cache (fault 397).
    await admin.query(
      "UPDATE simcat.sync_runs SET listing_as_of = now() - interval '50 hours' WHERE started_at < now() - interval '20 hours' AND started_at > now() - interval '40 hours'",
    );
    expect(hours(await answer("No run", EVERYTHING))).toEqual([45]);
  });

  test("does not show as activity what was only read later than the history began", async () => {
    await admin.query(`
      INSERT INTO simcat.events (owner, library_name, kind, seen_at, run_id, scenarios, results, bytes)
      SELECT 'ann', 'Late', 'loaded', now(), 2, 0, 0, 0`);
    expect(await answer("Activity seen by simcat", { owner: ["ann"], package: ALL })).toEqual([]);
  });

  test("counts the results that question 12 counts, deleted ones once, moved ones not (faults 240, 263)", async () => {
    await admin.query(`
      INSERT INTO simcat.events (owner, library_name, scenario_id, kind, seen_at, run_id, is_result, service_date, scenarios, results, bytes)
      SELECT 'ann', 'Forest', 90 + n, kind, now(), 2, true, now() - interval '1 hour', change, change, 0
      FROM generate_series(1, 3) AS n, (VALUES ('added', 1), ('removed', -1), ('added', 1)) AS happened (kind, change)`);
    // A library that moved brings its results along.
    await admin.query(`
      INSERT INTO simcat.events (owner, library_name, scenario_id, kind, seen_at, run_id, is_result, service_date, scenarios, results, bytes)
      SELECT owner, 'Moved', id, kind, now(), 2, id = 1, now() - interval '1 hour', change, change, 0
      FROM (VALUES ('eve', NULL, 'removed', -1), ('ann', NULL, 'added', 0), ('ann', 1, 'added', 1)) AS moved (owner, id, kind, change)`);
    const question = readFileSync(new URL("../../examples/queries/results-by-week.sql", import.meta.url), "utf8");
    const counted = async () => {
      const panel = await answer("Results run, by owner", of("ann", "landscape"));
      const { rows: weeks } = await admin.query<{ results: string | null }>(question);
      const sum = weeks.reduce((sum, { results }) => sum + Number(results), 0);
      return { panel: panel.map((row) => row.slice(1, 3)), sum };
    };
    // The history began in this week, so its number is not known.
    expect(await counted()).toEqual({ panel: [], sum: 0 });
    await admin.query("UPDATE simcat.sync_runs SET finished_at = finished_at - interval '99 days' WHERE id = 1");
    expect(await counted()).toEqual({ panel: [["ann", "3"]], sum: 3 });
  });

  test("shows the results of each selected owner, also of one that ten others surpass (fault 286)", async () => {
    await admin.query(`
      INSERT INTO simcat.events (owner, library_name, scenario_id, kind, seen_at, run_id, is_result, service_date, scenarios, results, bytes)
      SELECT 'owner ' || chr(96 + o), 'Forest', n, 'added', now(), 2, true, now() - interval '1 hour', 1, 1, 0
      FROM generate_series(1, 11) AS o, generate_series(1, 12 - o) AS n;
      UPDATE simcat.sync_runs SET finished_at = finished_at - interval '99 days' WHERE id = 1`);
    const ownersOf = async (selection: Selection) =>
      (await answer("Results run, by owner", selection)).map(([, owner]) => String(owner));
    expect(await ownersOf(EVERYTHING)).toEqual(Array.from("abcdefghij", (letter) => `owner ${letter}`));
    expect(await ownersOf({ owner: ["owner k"], package: ALL })).toEqual(["owner k"]);
  });

  test("does not draw how long an abandoned run took, because its end is not known (fault 284)", async () => {
    const before = await answer("How long runs took", EVERYTHING);
    await admin.query(`
      INSERT INTO simcat.sync_runs (kind, trigger, status, started_at, finished_at, version)
      VALUES ('sync', 'cli', 'abandoned', now() - interval '3 days', now(), '1')`);
    expect(before).toHaveLength(2);
    expect(await answer("How long runs took", EVERYTHING)).toEqual(before);
  });

  test("gives the reason of only one reject as an example", async () => {
    await admin.query(`
      INSERT INTO simcat.rejects (owner, library_name, kind, code, reason, path, run_id, payload, fingerprint, first_seen_at, last_seen_at)
      SELECT 'ann', 'Forest', 'scenario', 'bad_text', 'reason ' || n, '/' || n, 1, '', n, now(), now() FROM generate_series(1, 3) AS n`);
    const rows = await answer("Data quality", of("ann", "landscape"));
    expect(rows).toContainEqual([
      "open_reject",
      "scenario",
      "3",
      "it could not be stored, the first because of bad_text: reason 1",
    ]);
  });

  test("lists libraries whose removal is held, which Libraries behind counts", async () => {
    await admin.query("UPDATE simcat.library_sync SET removal_held_at = now() WHERE library_name = 'Forest'");
    const title = "Libraries that fail, have rejects, are held or not settled";
    const rows = await answer(title, of("ann", "landscape"));
    expect(rows.map(([owner, name]) => `${owner}/${name}`)).toEqual(["ann/Forest"]);
    expect(rows[0]?.[6]).toBeInstanceOf(Date);
    expect(await answer("Libraries behind", EVERYTHING)).toEqual([["1"]]);
  });

  test("does not count a date in the future as recent work (fault 128)", async () => {
    expect(await answer("Active libraries", of("bob", "(none)"))).toEqual([["0"]]);
    expect(await answer("Libraries by last work", of("bob", "(none)"))).toEqual([["unknown", "2"]]);
  });

  test.each([
    ["29 days: too few", 29, 1, ["29", "too few days: 30 are needed", null, null, null, null, null]],
    ["40 days", 40, 1, ["40", "a line through 40 days", 1000, 70_000, 130_000, 405_000, 1]],
    ["40 days, no library today (fault 246)", 40, 0, ["40", "no library is left", null, null, null, null, null]],
  ])("forecasts storage only from 30 days of snapshots: %s", async (_, days, today, forecast) => {
    await admin.query(`
      INSERT INTO simcat.snapshot_days (day, run_id, taken_at)
      SELECT (now() AT TIME ZONE 'UTC')::date - ago, 1, now() FROM generate_series(0, ${days - 1}) AS ago
      ON CONFLICT DO NOTHING;
      INSERT INTO simcat.owner_days (day, owner, libraries, scenarios, results, bytes, sizes_unread)
      SELECT (now() AT TIME ZONE 'UTC')::date - ago, 'eve', is_there, 0, 0, is_there * (40000 - 1000 * ago), 0
      FROM generate_series(0, ${days - 1}) AS ago, LATERAL (SELECT greatest(least(ago, 1), ${today}) AS is_there) AS library`);
    const rows = await answer("Storage forecast", { owner: ["eve"], package: ALL });
    const rounded = rows.map((row) => row.map((value) => (typeof value === "number" ? Math.round(value) : value)));
    expect(rounded).toEqual([forecast]);
  });

  test("forecasts storage from the time on at which all content was read (fault 397)", async () => {
    await admin.query(`
      DELETE FROM simcat.snapshot_days;
      INSERT INTO simcat.snapshot_days (day, run_id, taken_at)
      SELECT (now() AT TIME ZONE 'UTC')::date - ago, 100 - ago, now() FROM generate_series(0, 39) AS ago;
      INSERT INTO simcat.owner_days (day, owner, libraries, scenarios, results, bytes, sizes_unread)
      SELECT (now() AT TIME ZONE 'UTC')::date - ago, 'eve', 1, 0, 0, CASE WHEN ago > 34 THEN 1000 ELSE 4000 END, 0
      FROM generate_series(0, 39) AS ago;
      INSERT INTO simcat.events (owner, library_name, kind, seen_at, run_id, scenarios, results, bytes)
      VALUES ('eve', 'Late', 'loaded', now() - interval '34 days', 66, 0, 0, 3000)`);
    const [row = []] = await answer("Storage forecast", { owner: ["eve"], package: ALL });
    expect(row.slice(0, 4)).toEqual(["35", "a line through 35 days", 0, 4000]);
  });
});
