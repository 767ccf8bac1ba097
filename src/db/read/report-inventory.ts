import { OF_OWNERS } from "./report-scope.ts";

export interface LibraryTotals {
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

export const LIBRARIES = `
SELECT count(*) AS libraries, count(DISTINCT owner) AS owners, coalesce(sum(file_size_bytes), 0)::float8 AS bytes,
  count(*) FILTER (WHERE file_size_bytes IS NULL) AS "sizesUnread",
  count(*) FILTER (WHERE last_modified_at IS NULL) AS undated,
  count(*) FILTER (WHERE days_since_modified < 30) AS touched,
  count(*) FILTER (WHERE days_since_modified >= 365) AS stale,
  percentile_disc(0.5) WITHIN GROUP (ORDER BY days_since_modified) AS "medianDays"
FROM simcat_report.stale_libraries WHERE ${OF_OWNERS}`;

/** The index of an age class of the page (AGE_CLASSES): 0 for dates in the future, null without a date. */
export const AGES = `
SELECT width_bucket(days_since_modified, ARRAY[0, 7, 30, 90, 180, 365, 730, 1825]::bigint[]) AS age, count(*) AS libraries
FROM simcat_report.stale_libraries WHERE ${OF_OWNERS} GROUP BY 1 ORDER BY 1`;

/** 24 months. A library counts once in each month that its own date or a date of one of its scenarios is in. */
export const ACTIVITY = `
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
  FROM simcat_report.stale_libraries WHERE ${OF_OWNERS} GROUP BY 1, 2
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
    SELECT owner, sum(y.scenario_count) AS scenarios, sum(y.scenario_count - y.result_count) AS parents
    FROM simcat.library_sync y JOIN simcat.libraries l USING (owner, library_name)
    WHERE l.removed_at IS NULL AND y.scenario_count > 0 AND ${OF_OWNERS} GROUP BY owner
  ) AS s
  LEFT JOIN (
    SELECT owner, count(*) AS without FROM simcat_report.parents_without_results WHERE ${OF_OWNERS} GROUP BY owner
  ) AS w USING (owner)
) AS ranked
GROUP BY least(place, $2::int + 1), 1 ORDER BY least(place, $2::int + 1)`;
