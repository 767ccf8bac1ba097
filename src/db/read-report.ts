import type { RunStatus } from "../model.ts";
import type { Connection, Pool } from "./connect.ts";
import { readNow, readSnapshot } from "./snapshot.ts";

export interface ReportScope {
  /** How far back "what changed" looks, in milliseconds. */
  readonly sinceMs: number;
  /** Only these; all when there is none. */
  readonly owners: readonly string[];
}

export type ReportRows = Awaited<ReturnType<typeof readReport>>;

/** So many are told one by one; of the rest there are the numbers. */
const SHOWN = 12;
const RUNS = 40;

/** What the page tells, from the views of simcat_report alone, at one moment. */
export async function readReport(pool: Pool, { sinceMs, owners }: ReportScope, signal: AbortSignal) {
  const read = async (connection: Connection) => {
    // Whole tables are counted here: in memory rather than on disk, and never worth compiling for.
    await connection.query("SET LOCAL work_mem TO '64MB'; SET LOCAL jit TO off");
    const now = await readNow(connection);
    const since = new Date(now.getTime() - sinceMs);
    const step = stepOf(sinceMs);
    const of = owners.length === 0 ? null : owners;
    const rows = async <Row extends object>(sql: string, parameters: readonly unknown[]) =>
      (await connection.query<Row>(sql, [...parameters])).rows;
    const one = async <Row extends object>(sql: string, parameters: readonly unknown[]): Promise<Row> => {
      const [row] = await rows<Row>(sql, parameters);
      if (row === undefined) throw new Error("an aggregate answered no row");
      return row;
    };
    return {
      now,
      since,
      step,
      owners,
      complete: await one<Completeness>(COMPLETE, []),
      libraries: await one<LibraryTotals>(LIBRARIES, [of]),
      ages: await rows<{ age: number | null; libraries: number }>(AGES, [of]),
      activity: await rows<{ month: string; libraries: number; scenarios: number }>(ACTIVITY, [of, now]),
      storage: await rows<StorageRow>(STORAGE, [of, SHOWN]),
      versions: await rows<VersionRow>(VERSIONS, [of]),
      parents: await rows<ParentsRow>(PARENTS, [of, SHOWN]),
      runs: (await rows<ReportRun>(RECENT_RUNS, [RUNS])).toReversed(),
      endings: await rows<{ status: RunStatus; runs: number }>(ENDINGS, [since]),
      firstFill: await one<{ runId: number | null; libraries: number; scenarios: number }>(FIRST_FILL, [of, since]),
      changes: await rows<ChangeRow>(CHANGES, [of, since, step]),
      changed: await rows<ChangedLibrary>(CHANGED_LIBRARIES, [of, since, SHOWN]),
      failing: await rows<FailingLibrary>(FAILING, [of, SHOWN]),
      problems: await rows<{ problem: string; rows: number }>(PROBLEMS, [of]),
    };
  };
  return readSnapshot(pool, "reading the report", read, signal);
}

export type Step = "hour" | "day" | "week" | "month";

const HOUR_MS = 3_600_000;

/** The finest step that makes no more than about seventy of the time. */
function stepOf(sinceMs: number): Step {
  if (sinceMs <= 72 * HOUR_MS) return "hour";
  if (sinceMs <= 70 * 24 * HOUR_MS) return "day";
  return sinceMs <= 70 * 7 * 24 * HOUR_MS ? "week" : "month";
}

interface Completeness {
  readonly completeAsOf: Date | null;
  readonly lastWholeRunId: number | null;
  readonly librariesBehind: number;
  readonly unaddressable: number;
}

interface LibraryTotals {
  readonly libraries: number;
  readonly owners: number;
  readonly bytes: number;
  readonly sizesUnread: number;
  readonly undated: number;
  /** Modified within 30 days. */
  readonly touched: number;
  readonly stale: number;
  readonly medianDays: number | null;
}

/** `owner` is null for all the others together. */
export interface StorageRow {
  readonly owner: string | null;
  readonly owners: number;
  readonly libraries: number;
  readonly bytes: number;
}

export interface VersionRow {
  readonly packageName: string | null;
  readonly packageVersion: string | null;
  readonly libraries: number;
  readonly newestVersion: string | null;
  /** Null where no version or no package is known. */
  readonly versionsBehind: number | null;
}

/** `owner` is null for all the others together. */
export interface ParentsRow {
  readonly owner: string | null;
  readonly owners: number;
  readonly scenarios: number;
  readonly parents: number;
  readonly withoutResults: number;
}

export interface ReportRun {
  readonly id: number;
  readonly kind: string;
  readonly status: RunStatus;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly isWhole: boolean;
  readonly error: string | null;
}

export interface ChangeRow {
  readonly at: Date;
  readonly what: "library" | "scenario";
  readonly kind: "added" | "changed" | "removed" | "returned";
  readonly count: number;
}

export interface ChangedLibrary {
  readonly owner: string;
  readonly name: string;
  /** What became of the library itself; null when only its scenarios changed. */
  readonly library: string | null;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly lastChangedAt: Date;
  /** Of how many this is one. */
  readonly total: number;
}

export interface FailingLibrary {
  readonly owner: string;
  readonly name: string;
  readonly failures: number;
  readonly openRejects: number;
  readonly lastReadAt: Date | null;
  readonly lastError: string | null;
  /** Of how many this is one. */
  readonly total: number;
}

const OF_OWNERS = "($1::text[] IS NULL OR owner = ANY($1))";

const COMPLETE = `
SELECT complete_as_of AS "completeAsOf", last_whole_run_id AS "lastWholeRunId", libraries_behind AS "librariesBehind",
  unaddressable_libraries AS unaddressable
FROM simcat_report.data_complete_as_of`;

const LIBRARIES = `
SELECT count(*) AS libraries, count(DISTINCT owner) AS owners, coalesce(sum(file_size_bytes), 0)::float8 AS bytes,
  count(*) FILTER (WHERE file_size_bytes IS NULL) AS "sizesUnread",
  count(*) FILTER (WHERE last_modified_at IS NULL) AS undated,
  count(*) FILTER (WHERE days_since_modified < 30) AS touched,
  count(*) FILTER (WHERE days_since_modified >= 365) AS stale,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY days_since_modified) AS "medianDays"
FROM simcat_report.stale_libraries WHERE ${OF_OWNERS}`;

/** The place among the page's age classes (AGE_CLASSES): 0 is dated ahead; null has no date. */
const AGES = `
SELECT width_bucket(days_since_modified, ARRAY[0, 7, 30, 90, 180, 365, 730, 1825]::bigint[]) AS age, count(*) AS libraries
FROM simcat_report.stale_libraries WHERE ${OF_OWNERS} GROUP BY 1 ORDER BY 1`;

/** Twenty-four months; a library counts once in each in which it or a scenario of it is dated. */
const ACTIVITY = `
SELECT to_char(month, 'YYYY-MM') AS month, count(*) AS libraries, sum(scenarios)::float8 AS scenarios
FROM (
  SELECT date_trunc('month', at) AS month, owner, library_name, sum(is_scenario) AS scenarios
  FROM (
    SELECT owner, library_name, last_modified_at AS at, 0 AS is_scenario FROM simcat_report.stale_libraries
    UNION ALL
    SELECT owner, library_name, last_modified_at, 1 FROM simcat_report.scenarios
  ) AS dated
  WHERE ${OF_OWNERS} AND at >= date_trunc('month', $2::timestamptz) - interval '23 months'
    AND at < date_trunc('month', $2::timestamptz) + interval '1 month'
  GROUP BY 1, 2, 3
) AS touched
GROUP BY 1 ORDER BY 1`;

const STORAGE = `
SELECT CASE WHEN place <= $2::int THEN owner END AS owner, count(*) AS owners, sum(libraries)::float8 AS libraries,
  sum(bytes)::float8 AS bytes
FROM (
  SELECT owner, libraries, bytes, row_number() OVER (ORDER BY bytes DESC, owner) AS place
  FROM simcat_report.owner_storage WHERE ${OF_OWNERS}
) AS one
GROUP BY least(place, $2::int + 1), 1 ORDER BY least(place, $2::int + 1)`;

/** The newest is that of the whole organization, whoever's libraries are counted. */
const VERSIONS = `
SELECT l.package_name AS "packageName", l.package_version AS "packageVersion", l.libraries,
  v.newest_version AS "newestVersion", v.versions_behind AS "versionsBehind"
FROM (
  SELECT package_name, package_version, count(*) AS libraries
  FROM simcat_report.stale_libraries WHERE ${OF_OWNERS} GROUP BY 1, 2
) AS l
JOIN simcat_report.package_versions v
  ON v.package_name IS NOT DISTINCT FROM l.package_name AND v.package_version IS NOT DISTINCT FROM l.package_version
ORDER BY l.package_name NULLS LAST, v.versions_behind NULLS LAST, l.package_version`;

const PARENTS = `
SELECT CASE WHEN place <= $2::int THEN owner END AS owner, count(*) AS owners, sum(scenarios)::float8 AS scenarios,
  sum(parents)::float8 AS parents, sum(without)::float8 AS "withoutResults"
FROM (
  SELECT s.owner, s.scenarios, s.parents, coalesce(w.without, 0) AS without,
    row_number() OVER (ORDER BY coalesce(w.without, 0) DESC, s.parents DESC, s.owner) AS place
  FROM (
    SELECT owner, count(*) AS scenarios, count(*) FILTER (WHERE NOT coalesce(is_result, parent_id IS NOT NULL)) AS parents
    FROM simcat_report.scenarios WHERE ${OF_OWNERS} GROUP BY owner
  ) AS s
  LEFT JOIN (
    SELECT owner, count(*) AS without FROM simcat_report.parents_without_results WHERE ${OF_OWNERS} GROUP BY owner
  ) AS w USING (owner)
) AS one
GROUP BY least(place, $2::int + 1), 1 ORDER BY least(place, $2::int + 1)`;

const RECENT_RUNS = `
SELECT run_id AS id, kind, status, started_at AS "startedAt", is_whole AS "isWhole", error,
  (1000 * extract(epoch FROM coalesce(finished_at, now()) - started_at))::float8 AS "durationMs"
FROM simcat_report.run_history ORDER BY run_id DESC LIMIT $1`;

const ENDINGS = `
SELECT status, count(*) AS runs FROM simcat_report.run_history
WHERE started_at >= $1 GROUP BY 1 ORDER BY 2 DESC, 1`;

/** What the runs up to the first whole one brought was there before simcat was: it did not change. */
const FIRST_WHOLE = "(SELECT min(run_id) FROM simcat_report.run_history WHERE saw_everything)";
const NO_FIRST_FILL = `NOT (kind = 'added' AND (run_id IS NULL OR run_id <= coalesce(${FIRST_WHOLE}, run_id)))`;

const FIRST_FILL = `
SELECT ${FIRST_WHOLE} AS "runId", count(*) FILTER (WHERE what = 'library') AS libraries,
  count(*) FILTER (WHERE what = 'scenario') AS scenarios
FROM simcat_report.changes WHERE ${OF_OWNERS} AND changed_at >= $2 AND NOT (${NO_FIRST_FILL})`;

/** A version counts once, however many of its fields differ. */
const CHANGES = `
SELECT date_trunc($3::text, changed_at) AS at, what, kind, count(*) AS count
FROM (
  SELECT DISTINCT changed_at, what, kind, owner, library_name, scenario_id
  FROM simcat_report.changes WHERE ${OF_OWNERS} AND changed_at >= $2 AND ${NO_FIRST_FILL}
) AS version
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

const CHANGED_LIBRARIES = `
SELECT owner, library_name AS name,
  (array_agg(kind ORDER BY changed_at DESC, kind DESC) FILTER (WHERE what = 'library'))[1] AS library,
  count(*) FILTER (WHERE what = 'scenario' AND kind IN ('added', 'returned')) AS added,
  count(*) FILTER (WHERE what = 'scenario' AND kind = 'changed') AS changed,
  count(*) FILTER (WHERE what = 'scenario' AND kind = 'removed') AS removed,
  max(changed_at) AS "lastChangedAt", count(*) OVER () AS total
FROM (
  SELECT DISTINCT changed_at, what, kind, owner, library_name, scenario_id
  FROM simcat_report.changes WHERE ${OF_OWNERS} AND changed_at >= $2 AND ${NO_FIRST_FILL}
) AS version
GROUP BY owner, library_name ORDER BY max(changed_at) DESC, owner, library_name LIMIT $3`;

const FAILING = `
SELECT owner, library_name AS name, failures, open_rejects AS "openRejects", last_whole_read_at AS "lastReadAt",
  last_error AS "lastError", count(*) OVER () AS total
FROM simcat_report.library_freshness WHERE ${OF_OWNERS} AND (failures > 0 OR open_rejects > 0)
ORDER BY last_whole_read_at NULLS FIRST, owner, library_name LIMIT $2`;

const PROBLEMS = `
SELECT problem, count(*) AS rows FROM simcat_report.data_quality WHERE ${OF_OWNERS} GROUP BY 1 ORDER BY 2 DESC, 1`;
