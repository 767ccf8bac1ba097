import type { Pool } from "../../src/db/connect.ts";
import { DERIVE_EVENTS } from "../../test/support/derive-events.ts";

/** 50 libraries per owner, 100 scenarios per library. */
export interface Size {
  readonly libraries: number;
  readonly runs: number;
}

/** 1,000,000 scenarios in 10,000 libraries of 200 owners, with 600,000 superseded versions, over 104 days. */
export const FULL: Size = { libraries: 10_000, runs: 10_000 };

/** The scenarios 1 to 29 of each library have two superseded versions, the library itself too. */
const CHANGING = 29;

const VALUES = ({ libraries, runs }: Size) => `
CREATE FUNCTION pg_temp.run_at(run bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE
  RETURN timestamptz '2026-01-01 00:00Z' + run * interval '15 minutes';
CREATE FUNCTION pg_temp.date_text(at timestamptz) RETURNS text LANGUAGE sql STABLE
  RETURN to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD "at" FMHH12:MI AM');
CREATE TEMPORARY TABLE library AS
SELECT i, 'owner-' || to_char(i % ${Math.ceil(libraries / 50)}, 'FM0000') AS owner,
  (ARRAY['Fire Risk', 'Caribou Habitat', 'Timber Supply', 'Urban Growth', 'Wetland Water Balance'])[1 + i % 5] || ' ' || i / 2 AS name,
  -- Every twentieth library changes in the same run.
  CASE WHEN i % 20 = 0 THEN ${Math.ceil(runs / 4)} ELSE 2 + (i * 7919) % ${Math.floor(runs / 2) - 2} END AS first_change,
  CASE WHEN i % 20 = 0 THEN ${Math.ceil(runs * 0.75)} ELSE ${Math.floor(runs / 2)} + (i * 6113) % ${Math.floor(runs / 2)} END AS second_change,
  pg_temp.run_at(1) - (i % 700) * interval '1 day' - i * interval '1 minute' AS edited_at
FROM generate_series(1, ${libraries}) AS i;
CREATE TEMPORARY TABLE version AS
SELECT l.*, v.version, v.run, pg_temp.run_at(v.run) AS valid_from, v.next_run, pg_temp.run_at(v.next_run) AS valid_to
FROM library l
CROSS JOIN LATERAL (VALUES (0, 1, first_change), (1, first_change, second_change), (2, second_change, NULL)) AS v(version, run, next_run);
ANALYZE library, version;`;

const LIBRARY_COLUMNS = `owner, library_name, library_owner, last_modified, last_modified_at, file_size, file_size_bytes,
  package_name, package_version, description, listed, metadata, first_seen_at, changed_at, removed_at, run_id`;

const LIBRARY = `v.owner, v.name, v.owner, pg_temp.date_text(d.at), date_trunc('minute', d.at), size || ' KB', size * 1024,
  'package-' || i % 8, i % 4 || '.' || (i + version) % 12 || '.0', repeat('A description of the library. ', 8),
  jsonb_build_object('uploadUser', v.owner, 'libraryName', v.name, 'lastModified', pg_temp.date_text(d.at)),
  jsonb_build_object('libraryName', v.name, 'libraryOwner', v.owner, 'fileSize', size || ' KB', 'packageName', 'package-' || i % 8,
    'packageVersion', i % 4 || '.' || (i + version) % 12 || '.0', 'lastModified', pg_temp.date_text(d.at),
    'description', repeat('A description of the library. ', 8)),
  pg_temp.run_at(1), v.valid_from, CASE WHEN v.version = 2 AND i % 100 = 0 THEN v.valid_from END, v.run`;

const LIBRARY_SOURCE = `version AS v
  CROSS JOIN LATERAL (SELECT CASE v.version WHEN 0 THEN v.edited_at ELSE v.valid_from - interval '5 minutes' END AS at) AS d
  CROSS JOIN LATERAL (SELECT 100 + (i * 37) % 90000 AS size) AS s`;

const SCENARIO_COLUMNS = `owner, library_name, scenario_id, parent_id, scenario_name, is_result, last_modified, last_modified_at, description,
  raw, first_seen_at, changed_at, removed_at, run_id`;

/** Two parents and three results in each five. One parent in 500 is missing, one result in 700 names no parent. */
const SCENARIO = `v.owner, v.name, j, f.parent_id, f.scenario_name, f.is_result, pg_temp.date_text(d.at), date_trunc('minute', d.at), f.description,
  jsonb_build_object('scenarioId', j, 'parentId', f.parent_id, 'scenarioName', f.scenario_name, 'isResult', f.is_result,
    'lastModified', pg_temp.date_text(d.at), 'description', f.description),
  pg_temp.run_at(1), v.valid_from, CASE WHEN v.version = 2 AND (i + j) % 50 = 0 THEN v.valid_from END, v.run`;

const SCENARIO_SOURCE = (versions: string) => `generate_series(1, 100) AS j
  JOIN version AS v ON ${versions}
  CROSS JOIN LATERAL (
    SELECT (j - 1) % 5 >= 2 AS is_result,
      CASE WHEN (j - 1) % 5 < 2 OR (i + j) % 700 = 0 THEN NULL WHEN (i * 100 + j) % 500 = 3 THEN 1000 ELSE j - (j - 1) % 5 + i % 2 END AS parent_id,
      CASE WHEN (j + v.version) % 3 = 0 THEN 'Renamed scenario ' ELSE 'Climate RCP 8.5, harvest ' END || j AS scenario_name,
      CASE WHEN (j + v.version) % 4 > 0 THEN 'Run with ' || 10 * v.version + j || ' Monte Carlo iterations' END AS description
  ) AS f
  CROSS JOIN LATERAL (
    SELECT CASE v.version WHEN 0 THEN v.edited_at - j * interval '37 minutes' ELSE v.valid_from - interval '5 minutes' END AS at
  ) AS d`;

const STATEMENTS = ({ libraries, runs }: Size) => [
  VALUES({ libraries, runs }),
  `INSERT INTO simcat.libraries (${LIBRARY_COLUMNS}) SELECT ${LIBRARY} FROM ${LIBRARY_SOURCE} WHERE v.version = 2`,
  `INSERT INTO simcat.library_history (${LIBRARY_COLUMNS}, valid_from, valid_to, superseded_by)
   SELECT ${LIBRARY}, v.valid_from, v.valid_to, v.next_run FROM ${LIBRARY_SOURCE} WHERE v.version < 2 ORDER BY v.valid_to`,
  `INSERT INTO simcat.scenarios (${SCENARIO_COLUMNS}) SELECT ${SCENARIO}
   FROM ${SCENARIO_SOURCE(`v.version = CASE WHEN j <= ${CHANGING} THEN 2 ELSE 0 END`)} ORDER BY v.i, j`,
  `INSERT INTO simcat.scenario_history (${SCENARIO_COLUMNS}, valid_from, valid_to, superseded_by)
   SELECT ${SCENARIO}, v.valid_from, v.valid_to, v.next_run
   FROM ${SCENARIO_SOURCE(`v.version < 2 AND j <= ${CHANGING}`)} ORDER BY v.valid_to, v.i, j`,
  `INSERT INTO simcat.library_sync (owner, library_name, listed_text, bookmark, content_hash, bookmark_seen_at, content_read_at,
     settles_at, last_success_at, failures, scenario_count, result_count, last_scenario_at, last_scenario_id)
   SELECT v.owner, v.name, pg_temp.date_text(v.valid_from), pg_temp.date_text(v.valid_from), md5(v.name), v.valid_from, v.valid_from,
     v.valid_from - interval '1 minute', v.valid_from, 0, n.scenarios, n.results, v.valid_from - interval '5 minutes', 29
   FROM version AS v CROSS JOIN LATERAL (
     SELECT count(*) AS scenarios, count(*) FILTER (WHERE s.is_result) AS results
     FROM simcat.scenarios s WHERE s.owner = v.owner AND s.library_name = v.name AND s.removed_at IS NULL
   ) AS n WHERE v.version = 2`,
  `INSERT INTO simcat.sync_runs (kind, trigger, status, started_at, finished_at, libraries_listed, libraries_read, listing_complete, version)
   SELECT CASE r WHEN 1 THEN 'backfill' ELSE 'sync' END, 'schedule', CASE WHEN r % 40 = 0 THEN 'partial' ELSE 'ok' END,
     pg_temp.run_at(r) - interval '1 minute', pg_temp.run_at(r) + interval '1 minute', ${libraries}, 2, true, '0.1.0'
   FROM generate_series(1, ${runs}) AS r`,
  `INSERT INTO simcat.rejects (run_id, owner, library_name, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at)
   SELECT 1, l.owner, l.name, 'scenario', 'wrong_type', 'parentId', 'parentId is a string', '{}', md5(l.name || l.owner), pg_temp.run_at(1),
     pg_temp.run_at(1) FROM library AS l WHERE l.i % 20 = 7`,
  DERIVE_EVENTS,
  "VACUUM ANALYZE",
];

/** Fills a migrated, empty database. The rows are the same each time. */
export async function fill(pool: Pool, size: Size): Promise<void> {
  // The temporary tables belong to one session.
  const connection = await pool.connect();
  try {
    for (const statement of STATEMENTS(size)) await connection.query(statement);
  } finally {
    connection.release(true);
  }
}
