import { beforeEach } from "vitest";
import { callCli } from "../support/call-cli.ts";
import { inUndone, type TestDatabase, useTestDatabase } from "../support/database.ts";
import { DERIVE_EVENTS } from "../support/derive-events.ts";

type Row = Readonly<Record<string, unknown>>;

/** The n-th of January 2026, at midnight UTC; of 6.5, noon. */
export const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + (n - 1) * 86_400_000);

const COUNTS = [
  ...["listed", "read", "skipped", "changed", "failed", "removed"].map((what) => `libraries_${what}`),
  ...["inserted", "updated", "removed", "unchanged"].map((what) => `scenarios_${what}`),
  ...["rejects", "requests", "retries", "bytes", "silent_changes"],
];

const LIBRARY = { owner: "ann", first_seen_at: day(1), run_id: 1 };
const SCENARIO = { ...LIBRARY, library_name: "forest", raw: {} };

/** Default values of a row of each table. */
const DEFAULTS: Readonly<Record<string, Row>> = {
  libraries: { ...LIBRARY, changed_at: day(1) },
  scenarios: { ...SCENARIO, changed_at: day(1) },
  library_history: { ...LIBRARY, superseded_by: 2 },
  scenario_history: { ...SCENARIO, superseded_by: 2 },
  library_sync: { owner: "ann", suspect_reads: 0, failures: 0 },
  sync_runs: {
    kind: "sync",
    trigger: "schedule",
    allow_removals: false,
    restart: false,
    listing_complete: true,
    status: "ok",
    ...Object.fromEntries(COUNTS.map((name) => [name, 0])),
    version: "0.1.0",
  },
  rejects: {
    run_id: 1,
    kind: "scenario",
    code: "wrong_type",
    path: "parentId",
    reason: "parentId is a string",
    payload: "{}",
    first_seen_at: day(1),
    last_seen_at: day(1),
  },
  prunes: { events: false },
  events: { owner: "ann", library_name: "forest", run_id: 1, bytes: 0, scenarios: 0, results: 0 },
  library_days: { is_stored: true },
};

/** A table is after those that it refers to. */
const TABLES = [
  "libraries",
  "scenarios",
  "library_history",
  "scenario_history",
  "library_sync",
  "sync_runs",
  "rejects",
  "prunes",
  "events",
  "snapshot_days",
  "library_days",
  "owner_days",
] as const;

type Table = (typeof TABLES)[number];

export type StoredRows = Partial<Readonly<Record<Table, readonly Row[]>>>;

/** Adds rows whose other columns have default values. */
export async function addRows({ query }: TestDatabase, table: Table, rows: readonly Row[]): Promise<void> {
  const full = rows.map((row, at) => ({
    ...DEFAULTS[table],
    ...(table.endsWith("_history") ? { changed_at: row.valid_from } : {}),
    ...(table === "rejects" ? { id: at + 1, fingerprint: String(at) } : {}),
    ...row,
  }));
  await query(
    `INSERT INTO simcat.${table} OVERRIDING SYSTEM VALUE
     SELECT * FROM jsonb_populate_recordset(NULL::simcat.${table}, $1::jsonb)`,
    [JSON.stringify(full)],
  );
}

/** Replaces the events by those that the stored versions show. */
export async function deriveEvents({ query }: TestDatabase): Promise<void> {
  await query(`DELETE FROM simcat.events; ${DERIVE_EVENTS}`);
}

/** A step in the life of a library or scenario: fields that change, or null for its removal. */
export type Step = readonly [from: Date | string, fields: Row | null];

/** The rows of a life as simcat stores it: each step is a version, whose run has the number of its day, and the last one is current. */
export function lifeOf(what: "library" | "scenario", key: Row, steps: readonly Step[]): StoredRows {
  let fields: Row = {};
  let removedAt: Date | string | null = null;
  const runOf = (moment: Date | string) => new Date(moment).getUTCDate();
  const versions = steps.map(([from, changed], at) => {
    removedAt = changed === null ? (removedAt ?? from) : null;
    fields = { ...fields, ...changed };
    const next = steps[at + 1]?.[0];
    return {
      ...{
        ...key,
        ...fields,
        first_seen_at: steps[0]?.[0],
        changed_at: from,
        removed_at: removedAt,
        run_id: runOf(from),
      },
      ...(next === undefined ? {} : { valid_from: from, valid_to: next, superseded_by: runOf(next) }),
    };
  });
  const [current, history] = [versions.slice(-1), versions.slice(0, -1)];
  return what === "library"
    ? { libraries: current, library_history: history }
    : { scenarios: current, scenario_history: history };
}

/** The rows of all of them. */
export function mergeRows(all: readonly StoredRows[]): StoredRows {
  return Object.fromEntries(TABLES.map((table) => [table, all.flatMap((rows) => rows[table] ?? [])]));
}

/**
 * A database for the tests of a file, whose tables are empty at the start of each test.
 * @param beganAt when a run saw everything first: the history begins then, with no libraries. By default there is no run
 */
export function useStoredRows(beganAt?: Date) {
  const database = useTestDatabase();
  // Not TRUNCATE, which makes new files of each table and its indexes.
  const empty = async () => {
    await database().query(
      TABLES.map((table) => `DELETE FROM simcat.${table}`)
        .toReversed()
        .join("; "),
    );
    if (beganAt) await addRows(database(), "sync_runs", [{ id: 1, started_at: beganAt, finished_at: beganAt }]);
  };
  beforeEach(empty);
  /** The lines of the query's plan, with some ways of planning switched off. */
  const plan = (sql: string, options = "", off: readonly string[] = []): Promise<string[]> =>
    inUndone(database(), off.map((way) => `SET LOCAL ${way} = off`).join("; "), async (client) => {
      const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN ${options} ${sql}`);
      return rows.map((line) => line["QUERY PLAN"]);
    });
  return {
    database,
    async add(rows: StoredRows): Promise<void> {
      for (const table of TABLES) await addRows(database(), table, rows[table] ?? []);
      await deriveEvents(database());
    },
    query: <T = Record<string, unknown>>(sql: string, parameters: readonly unknown[] = []) =>
      database().query<T>(sql, parameters),
    /** The rows as lists of their values. */
    async queryLists(text: string): Promise<unknown[][]> {
      return (await database().pool.query({ text, rowMode: "array" })).rows;
    },
    plan,
    /** Runs `simcat prune`. */
    async pruneBefore(cutoff: Date, ...options: readonly string[]): Promise<void> {
      const service = { SIMCAT_BASE_URL: "http://127.0.0.1:9", SIMCAT_API_KEY: "12345678" };
      const age = `${Date.now() - cutoff.getTime()}ms`;
      const environment = { ...service, DATABASE_URL: database().url };
      const { code, stderr } = await callCli(["prune", "--older-than", age, ...options], environment);
      if (code !== 0) throw new Error(`prune ended with ${code}: ${stderr}`);
    },
    /** The tables that a plan of the query reads. */
    async tablesRead(sql: string, options = ""): Promise<string[]> {
      const nodes = (await plan(sql, options)).filter((node) => !node.includes("never executed"));
      return [...new Set(nodes.flatMap((node) => / on (\w+) /.exec(node)?.[1] ?? []))].sort();
    },
  };
}
