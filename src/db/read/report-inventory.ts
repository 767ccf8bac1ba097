import { OF_OWNERS } from "./report-scope.ts";

/** `active`, `quiet`, `stale` and `unknown` are the values of libraries.work_state. */
export interface LibraryTotals {
  readonly libraries: number;
  readonly owners: number;
  readonly bytes: number;
  readonly sizesUnread: number;
  readonly active: number;
  readonly quiet: number;
  readonly stale: number;
  readonly unknown: number;
  /** Days since the last work, of the library in the middle; null if no date is known. */
  readonly medianDays: number | null;
}

export interface AgeRow {
  /** Whole days since the last work. */
  readonly days: number;
  readonly libraries: number;
}

export interface GrowthRow {
  /** A day in UTC. */
  readonly day: Date;
  readonly libraries: number;
  readonly parents: number;
  readonly results: number;
  readonly bytes: number;
}

/** `owner` is null for the sum of all other owners. */
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
  /** Null if the version or the package is not known. */
  readonly versionsBehind: number | null;
}

/** `owner` is null for the sum of all other owners. */
export interface ParentsRow {
  readonly owner: string | null;
  readonly owners: number;
  readonly scenarios: number;
  readonly parents: number;
  readonly withoutResults: number;
}

/** A date in the next hours, which a wrong time zone causes, counts as today. */
const DAYS = "greatest(0, floor(extract(epoch FROM now() - last_work_at) / 86400))::int";

export const LIBRARIES = `
SELECT count(*) AS libraries, count(DISTINCT owner) AS owners, coalesce(sum(file_size_bytes), 0)::float8 AS bytes,
  count(*) FILTER (WHERE file_size_bytes IS NULL) AS "sizesUnread",
  count(*) FILTER (WHERE work_state = 'active') AS active, count(*) FILTER (WHERE work_state = 'quiet') AS quiet,
  count(*) FILTER (WHERE work_state = 'stale') AS stale, count(*) FILTER (WHERE work_state = 'unknown') AS unknown,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY ${DAYS}) FILTER (WHERE work_state <> 'unknown') AS "medianDays"
FROM simcat_report.libraries WHERE ${OF_OWNERS}`;

export const AGES = `
SELECT ${DAYS} AS days, count(*) AS libraries
FROM simcat_report.libraries WHERE ${OF_OWNERS} AND work_state <> 'unknown' GROUP BY 1 ORDER BY 1`;

/** Active libraries by the day of their last work. */
export const ACTIVE = `
SELECT date_trunc('day', least(last_work_at, now()), 'UTC') AS at, count(*) AS count
FROM simcat_report.libraries WHERE ${OF_OWNERS} AND work_state = 'active' GROUP BY 1 ORDER BY 1`;

/** The snapshots of the last two years. */
export const GROWTH = `
SELECT day::timestamp AT TIME ZONE 'UTC' AS day, sum(libraries)::float8 AS libraries, sum(parents)::float8 AS parents,
  sum(results)::float8 AS results, sum(bytes)::float8 AS bytes
FROM simcat_report.daily_owners WHERE ${OF_OWNERS} AND day > (now() AT TIME ZONE 'UTC')::date - 731 GROUP BY day ORDER BY day`;

export const STORAGE = `
SELECT CASE WHEN place <= $2::int THEN owner END AS owner, count(*) AS owners, sum(libraries)::float8 AS libraries,
  sum(bytes)::float8 AS bytes
FROM (
  SELECT owner, libraries, bytes, row_number() OVER (ORDER BY bytes DESC, owner) AS place
  FROM simcat_report.owner_storage WHERE ${OF_OWNERS}
) AS ranked
GROUP BY least(place, $2::int + 1), 1 ORDER BY least(place, $2::int + 1)`;

/** The newest version is that of the whole organization, also if only some owners are counted. */
export const VERSIONS = `
SELECT l.package_name AS "packageName", l.package_version AS "packageVersion", l.libraries,
  v.newest_version AS "newestVersion", v.versions_behind AS "versionsBehind"
FROM (
  SELECT package_name, package_version, count(*) AS libraries
  FROM simcat_report.libraries WHERE ${OF_OWNERS} GROUP BY 1, 2
) AS l
JOIN simcat_report.package_versions v
  ON v.package_name IS NOT DISTINCT FROM l.package_name AND v.package_version IS NOT DISTINCT FROM l.package_version
ORDER BY l.package_name NULLS LAST, v.versions_behind NULLS LAST, l.package_version`;

/** Sums the scenario counts that the runs keep by library; parents without results must be looked up. */
export const PARENTS = `
SELECT CASE WHEN place <= $2::int THEN owner END AS owner, count(*) AS owners, sum(scenarios)::float8 AS scenarios,
  sum(parents)::float8 AS parents, sum(without)::float8 AS "withoutResults"
FROM (
  SELECT s.owner, s.scenarios, s.parents, coalesce(w.without, 0) AS without,
    row_number() OVER (ORDER BY coalesce(w.without, 0) DESC, s.parents DESC, s.owner) AS place
  FROM (
    SELECT owner, sum(scenario_count) AS scenarios, sum(parent_count) AS parents
    FROM simcat_report.libraries WHERE scenario_count > 0 AND ${OF_OWNERS} GROUP BY owner
  ) AS s
  LEFT JOIN (
    SELECT owner, count(*) AS without FROM simcat_report.parents_without_results WHERE ${OF_OWNERS} GROUP BY owner
  ) AS w USING (owner)
) AS ranked
GROUP BY least(place, $2::int + 1), 1 ORDER BY least(place, $2::int + 1)`;

/** Parents that were edited after their latest result. */
export const STALE_RESULTS = `SELECT count(*) AS count FROM simcat_report.stale_results WHERE ${OF_OWNERS}`;
