import { readNow } from "../../db/clock.ts";
import { type Connection, oneRow } from "../../db/connect.ts";
import { FAILURE_REASON } from "../../db/read/read-status.ts";
import { readRecentRuns } from "../../db/read/recent-runs.ts";
import { statement } from "../../db/statement.ts";
import { DAY_MS, HOUR_MS } from "../../units.ts";
import { formatDay, formatMinute, type ShownFailure } from "../html/elements.ts";
import type { DrawnRun } from "../html/runs-figure.ts";

/** How many of the newest runs are shown. */
export const MAX_REPORT_RUNS = 40;

/** The owners asked for; all for NULL. */
export const OF_OWNERS = "($owners::text[] IS NULL OR owner = ANY($owners))";

/** How far back "what changed" looks, in milliseconds; and only these owners, or all. */
export type ReportScope = { readonly sinceMs: number; readonly owners: readonly string[] };

/** The facts that every section may use. */
export type Facts = Awaited<ReturnType<typeof readFacts>>["facts"];

/** The end of what the copy knows, such as `until 20 Nov 2026`; the present, without a text, if it knows the last day, or `maxAgeMs`. */
export function knownEndOf({ now, complete: { knownUntil } }: Facts, maxAgeMs = DAY_MS) {
  const ageMs = knownUntil === null ? 0 : now.getTime() - knownUntil.getTime();
  if (knownUntil === null || ageMs <= maxAgeMs) return { at: now, until: "" };
  return { at: knownUntil, until: `until ${ageMs > DAY_MS ? formatDay(knownUntil) : formatMinute(knownUntil)}` };
}

/** `since 13 Nov 2026`, the text `since` of the start `from`, with the end of what the copy knows. */
export function periodOf(from: Date, since: string, { at, until }: ReturnType<typeof knownEndOf>): string {
  if (until === "") return since;
  return at > from ? `${since} (complete ${until})` : `${since}, although the copy is complete only ${until}`;
}

/** Reads the facts, and returns them with a function that runs a query with the parameters of all sections. */
export async function readFacts(connection: Connection, { sinceMs, owners }: ReportScope) {
  const now = await readNow(connection);
  const since = new Date(now.getTime() - sinceMs);
  const complete = oneRow(await connection.query<Completeness>(COMPLETENESS));
  const { historyCompleteSince } = complete;
  const changesSince = historyCompleteSince !== null && historyCompleteSince > since ? historyCompleteSince : since;
  const recent = await readRecentRuns(connection, MAX_REPORT_RUNS, "views");
  const runCount = recent.filter(({ startedAt }) => startedAt >= changesSince).length;
  const step = stepOf(now.getTime() - changesSince.getTime(), runCount);
  const parameters = {
    owners: owners.length === 0 ? null : owners,
    since,
    // No change is later than NULL.
    changes_since: historyCompleteSince === null ? null : changesSince,
    step,
    step_length: `1 ${step}`,
    /** How many owners, changed libraries and failing libraries are read; of the others only their totals. */
    max_shown: 12,
    /** How many libraries with the same error, and how many items of one problem, are named. */
    max_alike: 5,
  };
  const query = <Row extends object>(sql: string) => connection.query<Row>(statement(sql)(parameters));
  const runs: readonly DrawnRun[] = recent.toReversed();
  const libraries = oneRow(await query<LibraryTotals>(LIBRARIES));
  const { rows: failing } = await query<ShownFailure & { total: number }>(FAILING);
  return { facts: { now, since, changesSince, step, owners, complete, libraries, runs, failing }, query };
}

interface Completeness {
  readonly database: string;
  readonly completeAsOf: Date | null;
  /** `completeAsOf`; if libraries hold it back, the time as of which the last run saw everything. Null before that run. */
  readonly knownUntil: Date | null;
  readonly lastWholeRunId: number | null;
  /** Libraries that hold `completeAsOf` back, those included whose date only has to settle. */
  readonly librariesBehind: number;
  /** Changes since then are known; null before the first run that saw everything. */
  readonly historyCompleteSince: Date | null;
}

const COMPLETENESS = `
SELECT current_database() AS database, complete_as_of AS "completeAsOf",
  coalesce(CASE WHEN libraries_behind + libraries_settling = 0 THEN complete_as_of END, seen_as_of) AS "knownUntil",
  last_whole_run_id AS "lastWholeRunId",
  libraries_behind + libraries_settling AS "librariesBehind",
  history_complete_since AS "historyCompleteSince"
FROM simcat_report.data_complete_as_of`;

type Total = "libraries" | "owners" | "parents" | "results" | "bytes" | "sizesUnread" | "active" | "stale" | "unknown";
/** `medianDays`: since the last work, of the library in the middle; null if no date is known. */
type LibraryTotals = Readonly<Record<Total, number> & { medianDays: number | null }>;

/** A date in the next hours, which a wrong time zone causes, counts as today. */
export const DAYS_SINCE_WORK = "greatest(0, floor(extract(epoch FROM now() - last_work_at) / 86400))::int";

const LIBRARIES = `
SELECT count(*) AS libraries, count(DISTINCT owner) AS owners,
  coalesce(sum(parent_count), 0)::float8 AS parents, coalesce(sum(result_count), 0)::float8 AS results, coalesce(sum(file_size_bytes), 0)::float8 AS bytes,
  count(*) FILTER (WHERE file_size_bytes IS NULL) AS "sizesUnread",
  ${["active", "stale", "unknown"].map((state) => `count(*) FILTER (WHERE work_state = '${state}') AS ${state}`)},
  percentile_disc(0.5) WITHIN GROUP (ORDER BY ${DAYS_SINCE_WORK} DESC) FILTER (WHERE work_state <> 'unknown') AS "medianDays"
FROM (SELECT * FROM simcat_report.libraries WHERE ${OF_OWNERS} OFFSET 0) AS computed_once`;

/** `total`: how many libraries fail. A few of each error come first, so that a frequent error does not hide the others. */
const FAILING = `
SELECT owner, library_name AS name, failures, open_rejects AS "openRejects", last_whole_read_at AS "lastSuccessAt",
  last_error AS "lastError", count(*) OVER () AS total, ${FAILURE_REASON} AS reason, count(*) OVER alike AS alike
FROM simcat_report.library_freshness WHERE ${OF_OWNERS} AND (failures > 0 OR open_rejects > 0)
WINDOW alike AS (PARTITION BY ${FAILURE_REASON})
ORDER BY row_number() OVER (alike ORDER BY last_whole_read_at NULLS FIRST, owner, library_name) > $max_alike::int,
  last_whole_read_at NULLS FIRST, owner, library_name LIMIT $max_shown`;

/** The finest step that makes no more than about seventy of the time; hours only if there was a run for every second one. */
function stepOf(sinceMs: number, runs: number): "hour" | "day" | "week" | "month" {
  if (sinceMs <= 72 * HOUR_MS && runs >= sinceMs / (2 * HOUR_MS)) return "hour";
  if (sinceMs <= 70 * DAY_MS) return "day";
  return sinceMs <= 70 * 7 * DAY_MS ? "week" : "month";
}
