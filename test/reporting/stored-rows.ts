import type { TestDatabase } from "../support/database.ts";

type Row = Readonly<Record<string, unknown>>;

/** The n-th of January 2026, at midnight UTC. */
export const day = (n: number) => new Date(Date.UTC(2026, 0, n));

/** Default values of a row of each table; a version is valid from the first of January. */
const DEFAULTS: Readonly<Record<string, Row>> = {
  libraries: { owner: "ann", first_seen_at: day(1), changed_at: day(1), run_id: 1 },
  scenarios: { owner: "ann", library_name: "forest", raw: {}, first_seen_at: day(1), changed_at: day(1), run_id: 1 },
  library_history: { owner: "ann", first_seen_at: day(1), run_id: 1, superseded_by: 2 },
  scenario_history: {
    owner: "ann",
    library_name: "forest",
    raw: {},
    first_seen_at: day(1),
    run_id: 1,
    superseded_by: 2,
  },
  library_sync: { owner: "ann", suspect_reads: 0, failures: 0 },
  sync_runs: {
    kind: "sync",
    trigger: "schedule",
    allow_removals: false,
    restart: false,
    listing_complete: true,
    status: "ok",
    libraries_listed: 0,
    libraries_read: 0,
    libraries_skipped: 0,
    libraries_changed: 0,
    libraries_failed: 0,
    libraries_removed: 0,
    scenarios_inserted: 0,
    scenarios_updated: 0,
    scenarios_removed: 0,
    scenarios_unchanged: 0,
    rejects: 0,
    requests: 0,
    retries: 0,
    bytes: 0,
    silent_changes: 0,
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
};

export async function addRows(database: TestDatabase, table: string, rows: readonly Row[]): Promise<void> {
  const { changed_at: _, ...version } = { changed_at: null, ...DEFAULTS[table] };
  const isHistory = table.endsWith("_history");
  const full = rows.map((row, at) => ({
    ...(isHistory ? { ...version, changed_at: row.valid_from } : DEFAULTS[table]),
    ...(table === "rejects" ? { id: at + 1, fingerprint: String(at) } : {}),
    ...row,
  }));
  await database.query(
    `INSERT INTO simcat.${table} OVERRIDING SYSTEM VALUE
     SELECT * FROM jsonb_populate_recordset(NULL::simcat.${table}, $1::jsonb)`,
    [JSON.stringify(full)],
  );
}

const TABLES = [
  "scenarios",
  "libraries",
  "library_history",
  "scenario_history",
  "library_sync",
  "sync_runs",
  "rejects",
  "prunes",
  "snapshot_days",
  "library_days",
  "owner_days",
] as const;

export async function emptyTables(database: TestDatabase): Promise<void> {
  await database.query(`TRUNCATE ${TABLES.map((table) => `simcat.${table}`).join(", ")}`);
}
