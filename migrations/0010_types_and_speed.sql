-- Columns that clients without intervals and decimals can read, the severity of each problem, and faster views.
-- New columns are at the end of each view.
CREATE OR REPLACE VIEW simcat_report.run_history AS
SELECT r.id AS run_id, r.kind, r.trigger, r.status, r.started_at, r.finished_at, r.finished_at - r.started_at AS duration,
  r.scope IS NULL AS is_whole,
  CASE
    WHEN r.scope IS NOT NULL OR r.finished_at IS NULL THEN false
    WHEN r.status = 'ok' THEN true
    WHEN r.status = 'partial' OR r.status = 'held' AND r.libraries_read + r.libraries_skipped + r.libraries_failed > 0
      -- An entry that names no library may stand for any of them. One whose key is unaddressable names one that no copy can hold.
      THEN NOT EXISTS (
        SELECT FROM simcat.rejects x
        WHERE x.kind = 'listing' AND x.owner IS NULL AND x.code NOT IN ('unaddressable', 'bad_text') AND x.first_seen_at <= r.finished_at
          AND (x.resolved_at IS NULL OR x.resolved_at > r.finished_at)
      )
    ELSE false
  END AS saw_everything,
  CASE WHEN c.counted THEN r.libraries_listed END AS libraries_listed,
  CASE WHEN c.counted THEN r.libraries_read END AS libraries_read,
  CASE WHEN c.counted THEN r.libraries_skipped END AS libraries_skipped,
  CASE WHEN c.counted THEN r.libraries_changed END AS libraries_changed,
  CASE WHEN c.counted THEN r.libraries_failed END AS libraries_failed,
  CASE WHEN c.counted THEN r.libraries_removed END AS libraries_removed,
  CASE WHEN c.counted THEN r.scenarios_inserted END AS scenarios_added,
  CASE WHEN c.counted THEN r.scenarios_updated END AS scenarios_changed,
  CASE WHEN c.counted THEN r.scenarios_removed END AS scenarios_removed,
  CASE WHEN c.counted THEN r.scenarios_unchanged END AS scenarios_unchanged,
  CASE WHEN c.counted THEN r.rejects END AS rejects,
  CASE WHEN c.counted THEN r.silent_changes END AS silent_changes,
  CASE WHEN c.counted THEN r.requests END AS requests,
  CASE WHEN c.counted THEN r.retries END AS retries,
  CASE WHEN c.counted THEN r.bytes END AS bytes,
  CASE WHEN c.counted THEN
    r.libraries_listed || ' listed, ' || r.libraries_read || ' read, ' || r.libraries_changed || ' changed, '
      || r.libraries_removed || ' removed, ' || r.libraries_failed || ' failed; scenarios +' || r.scenarios_inserted
      || ' ~' || r.scenarios_updated || ' -' || r.scenarios_removed
  END AS summary,
  r.error, r.scope, r.allow_removals, r.version,
  extract(epoch FROM r.finished_at - r.started_at)::double precision AS duration_seconds
FROM simcat.sync_runs r
CROSS JOIN LATERAL (SELECT r.status NOT IN ('running', 'abandoned') AS counted) AS c;
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.run_history.duration_seconds IS 'duration in seconds, for clients that cannot read intervals. NULL: not finished.';
--> statement-breakpoint
CREATE OR REPLACE VIEW simcat_report.library_freshness AS
SELECT y.owner, y.library_name, l.owner IS NOT NULL AS is_stored,
  greatest(y.bookmark_seen_at, listing.started_at) AS last_listed_at,
  y.content_read_at AS last_read_at,
  w.whole_read_at AS last_whole_read_at,
  y.last_success_at,
  greatest(l.changed_at, (
    SELECT max(s.changed_at) FROM simcat.scenarios s WHERE s.owner = y.owner AND s.library_name = y.library_name
  )) AS last_changed_at,
  now() - y.content_read_at AS lag,
  coalesce(w.has_settled AND y.listed_text = y.bookmark AND y.reread_reason IS NULL, false) AS settled,
  y.settles_at, y.reread_reason AS owes, y.failures, y.last_error, y.last_failed_at,
  (
    SELECT count(*) FROM simcat.rejects x
    WHERE x.owner = y.owner AND x.library_name = y.library_name AND x.resolved_at IS NULL
  ) AS open_rejects,
  CASE
    WHEN y.last_success_at IS NULL THEN
      -- A library that a run with status ok did not list did not exist then; nor did one that was first listed after the last whole run.
      CASE
        WHEN y.content_read_at IS NULL AND (y.failures = 0 OR y.failures = 1 AND y.last_failed_at > whole.finished_at)
          THEN whole.started_at
        ELSE clean.started_at
      END
    -- It was not listed in the last whole run, which would have read it otherwise.
    WHEN y.reread_reason = 'restored' THEN greatest(w.whole_read_at, whole.started_at)
    -- The text that the whole run listed proves it, unless a read failed then or before.
    WHEN w.has_settled AND w.is_whole
      AND (y.reread_reason IS NULL OR y.reread_reason = 'failure' AND y.failures = 1 AND y.last_failed_at > whole.finished_at)
      THEN greatest(w.whole_read_at, whole.started_at)
    ELSE w.whole_read_at
  END AS complete_as_of,
  extract(epoch FROM now() - y.content_read_at)::double precision AS lag_seconds
FROM simcat.library_sync y
LEFT JOIN simcat.libraries l ON l.owner = y.owner AND l.library_name = y.library_name
LEFT JOIN (
  SELECT started_at, finished_at FROM simcat_report.run_history WHERE saw_everything ORDER BY run_id DESC LIMIT 1
) AS whole ON true
LEFT JOIN (
  SELECT started_at FROM simcat_report.run_history WHERE saw_everything AND status <> 'held' ORDER BY run_id DESC LIMIT 1
) AS listing ON true
LEFT JOIN (
  SELECT started_at FROM simcat_report.run_history WHERE is_whole AND status = 'ok' ORDER BY run_id DESC LIMIT 1
) AS clean ON true
CROSS JOIN LATERAL (
  SELECT
    coalesce(y.bookmark <> '' AND y.content_read_at > y.settles_at AND y.suspect_reads = 0, false) AS has_settled,
    coalesce(y.content_read_at <= y.last_success_at, false) AS is_whole,
    CASE WHEN y.content_read_at <= y.last_success_at THEN y.content_read_at
      -- A partial read was stored since: the last whole read began no earlier than the run that stored it.
      ELSE coalesce((
        SELECT r.started_at FROM simcat.sync_runs r WHERE r.started_at <= y.last_success_at ORDER BY r.id DESC LIMIT 1
      ), y.last_success_at)
    END AS whole_read_at
) AS w
WHERE l.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.library_freshness.lag_seconds IS 'lag in seconds, for clients that cannot read intervals. NULL: nothing stored yet.';
--> statement-breakpoint
CREATE OR REPLACE VIEW simcat_report.owner_storage AS
SELECT l.owner, count(*) AS libraries, coalesce(sum(l.file_size_bytes), 0) AS bytes,
  count(*) FILTER (WHERE l.file_size_bytes IS NULL) AS sizes_unread,
  -- A sum of wrong sizes may exceed a bigint: the view must not fail then.
  least(coalesce(sum(l.file_size_bytes), 0), 9223372036854775807)::bigint AS total_bytes
FROM simcat.libraries l
WHERE l.removed_at IS NULL
GROUP BY l.owner;
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.owner_storage.total_bytes IS 'bytes as a bigint, for clients that cannot read decimals. At most 9223372036854775807.';
--> statement-breakpoint
CREATE OR REPLACE VIEW simcat_report.stale_libraries AS
SELECT l.owner, l.library_name, l.package_name, l.package_version, l.file_size_bytes, l.last_modified, l.last_modified_at,
  d.days AS days_since_modified,
  CASE
    WHEN d.days IS NULL THEN 'no date'
    WHEN d.days < -1 THEN 'in the future'
    WHEN d.days < 30 THEN 'under 30 days'
    WHEN d.days < 90 THEN '30 to 90 days'
    WHEN d.days < 365 THEN '90 to 365 days'
    ELSE 'over a year'
  END AS bucket
FROM simcat.libraries l
CROSS JOIN LATERAL (SELECT floor(extract(epoch FROM now() - l.last_modified_at) / 86400)::bigint AS days) AS d
WHERE l.removed_at IS NULL
ORDER BY l.last_modified_at NULLS LAST, l.owner, l.library_name;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.stale_libraries IS 'All live libraries by age, not only the stale ones: filter by bucket or days_since_modified. The longest unchanged are first, libraries without a known date last.';
COMMENT ON COLUMN simcat_report.stale_libraries.bucket IS 'The age as a text: under 30 days, 30 to 90 days, 90 to 365 days, over a year, in the future (by more than a day) or no date. Each range begins with its first number of days and ends before its second.';
--> statement-breakpoint
-- The join costs nothing if library_complete_as_of is not selected: the planner removes it, because the right side is distinct.
CREATE OR REPLACE VIEW simcat_report.scenarios AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, nullif(s.parent_id, 0) AS parent_id,
  s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.changed_at, s.run_id, s.raw,
  coalesce(s.is_result, nullif(s.parent_id, 0) IS NOT NULL) AS counts_as_result,
  CASE WHEN s.last_modified <> '' AND s.last_modified_at IS NULL THEN 'last_modified' END AS unparsed_fields,
  fresh.complete_as_of AS library_complete_as_of
FROM simcat.scenarios s
LEFT JOIN (
  SELECT DISTINCT ON (f.owner, f.library_name) f.owner, f.library_name, f.complete_as_of
  FROM simcat_report.library_freshness f
) AS fresh ON fresh.owner = s.owner AND fresh.library_name = s.library_name
WHERE s.removed_at IS NULL
  -- The foreign key guarantees a library. Asked this way round, 1,000,000 scenarios take half the time of a join.
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l
    WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.scenarios.counts_as_result IS 'Whether result_count counts it: is_result, or if that was not sent, whether there is a parent.';
COMMENT ON COLUMN simcat_report.scenarios.unparsed_fields IS 'last_modified if its text has an unknown format, so that last_modified_at is NULL. NULL: every text was understood.';
COMMENT ON COLUMN simcat_report.scenarios.library_complete_as_of IS 'complete_as_of of the library (library_freshness): what the service had of it up to this time, and dated, is stored. NULL: not known, or a row of scenarios_as_of().';
--> statement-breakpoint
CREATE OR REPLACE FUNCTION simcat_report.scenarios_as_of(moment timestamptz) RETURNS SETOF simcat_report.scenarios
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.parent_id,
    s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.valid_from, s.run_id, s.raw,
    coalesce(s.is_result, s.parent_id IS NOT NULL),
    CASE WHEN s.last_modified <> '' AND s.last_modified_at IS NULL THEN 'last_modified' END, NULL::timestamptz
  FROM (SELECT WHERE simcat_report.history_covers(moment) OFFSET 0) AS covered
  CROSS JOIN simcat_report.scenario_versions s
  JOIN simcat_report.library_versions l ON l.owner = s.owner AND l.library_name = s.library_name
    AND l.valid_from <= moment AND (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL
  WHERE s.valid_from <= moment AND (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL;
END;
--> statement-breakpoint
-- One branch for each problem, so that the planner drops all others if a query filters by problem, severity or fix_by.
CREATE OR REPLACE VIEW simcat_report.data_quality AS
SELECT 'date_not_understood' AS problem, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id,
  'last_modified' AS field, l.last_modified AS value, 'last_modified is in a format that simcat does not know' AS detail,
  'warning' AS severity, 'operator' AS fix_by
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.last_modified <> '' AND l.last_modified_at IS NULL
UNION ALL
SELECT 'no_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'the library is listed without a date, so its content is read in every run', 'warning', 'service'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND coalesce(l.last_modified, '') = ''
UNION ALL
SELECT 'future_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'last_modified is more than a day in the future', 'warning', 'service'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.last_modified_at > now() + interval '1 day'
UNION ALL
SELECT 'size_not_understood', 'library', l.owner, l.library_name, NULL, 'file_size', l.file_size,
  'file_size is in a format that simcat does not know; sums leave it out', 'warning', 'operator'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.file_size IS NOT NULL AND l.file_size_bytes IS NULL
UNION ALL
SELECT 'no_size', 'library', l.owner, l.library_name, NULL, 'file_size', NULL,
  'the metadata has no size; sums leave it out', 'warning', 'service'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.metadata IS NOT NULL AND l.file_size IS NULL
UNION ALL
SELECT 'names_differ_by_case', 'library', l.owner, l.library_name, NULL, 'library_name', NULL,
  'another library has the same owner and name but for capitals', 'warning', 'uploader'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o
  WHERE o.removed_at IS NULL AND (o.owner <> l.owner OR o.library_name <> l.library_name)
    AND lower(o.owner COLLATE "default") = lower(l.owner COLLATE "default")
    AND lower(o.library_name COLLATE "default") = lower(l.library_name COLLATE "default")
)
UNION ALL
SELECT 'name_under_two_owners', 'library', l.owner, l.library_name, NULL, 'library_name', l.library_name COLLATE "default",
  'a library of another owner has the same name', 'info', 'uploader'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o
  WHERE o.removed_at IS NULL AND o.library_name = l.library_name AND o.owner <> l.owner
)
UNION ALL
SELECT 'date_not_understood', 'scenario', s.owner, s.library_name, s.scenario_id, 'last_modified', s.last_modified,
  'last_modified is in a format that simcat does not know', 'warning', 'operator'
FROM simcat_report.scenarios s
WHERE s.last_modified <> '' AND s.last_modified_at IS NULL
UNION ALL
SELECT 'future_date', 'scenario', s.owner, s.library_name, s.scenario_id, 'last_modified', s.last_modified,
  'last_modified is more than a day in the future', 'warning', 'uploader'
FROM simcat_report.scenarios s
WHERE s.last_modified_at > now() + interval '1 day'
UNION ALL
SELECT 'result_without_parent', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'is_result is true and there is no parent', 'warning', 'uploader'
FROM simcat_report.scenarios s
WHERE s.is_result AND s.parent_id IS NULL
UNION ALL
SELECT 'parent_but_no_result', 'scenario', s.owner, s.library_name, s.scenario_id, 'is_result', 'false',
  'is_result is false and there is a parent', 'warning', 'uploader'
FROM simcat_report.scenarios s
WHERE NOT s.is_result AND s.parent_id IS NOT NULL
UNION ALL
SELECT 'own_parent', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'the scenario is its own parent', 'error', 'uploader'
FROM simcat_report.scenarios s
WHERE s.parent_id = s.scenario_id
UNION ALL
-- IS TRUE: without it the planner sorts all scenarios for an anti join, which takes twice as long as hashing the parents.
SELECT 'parent_missing', 'scenario', s.owner, s.library_name, s.scenario_id, 'parent_id', s.parent_id::text,
  'no live scenario of the library has this id', 'warning', 'uploader'
FROM simcat_report.scenarios s
LEFT JOIN simcat.scenarios parent ON parent.owner = s.owner AND parent.library_name = s.library_name
  AND parent.scenario_id = s.parent_id AND parent.removed_at IS NULL
WHERE s.parent_id IS NOT NULL AND (parent.scenario_id IS NULL) IS TRUE
UNION ALL
-- A cycle of two or more has a smallest number, whose parent is greater. That is rare: parents are made before their results.
SELECT 'parent_cycle', 'scenario', s.owner, s.library_name, c.scenario_id, 'parent_id', c.parent_id::text,
  'the parents of this scenario lead back to it', 'error', 'uploader'
FROM simcat_report.scenarios s
CROSS JOIN LATERAL (
  WITH RECURSIVE above AS (
    SELECT s.scenario_id, s.parent_id
    UNION
    -- OFFSET 0: each is looked up by its whole key, whatever size of a library the planner assumes.
    SELECT a.scenario_id, a.parent_id FROM above CROSS JOIN LATERAL (
      SELECT one.scenario_id, nullif(one.parent_id, 0) AS parent_id FROM simcat.scenarios one
      WHERE one.owner = s.owner AND one.library_name = s.library_name AND one.scenario_id = above.parent_id
        AND one.removed_at IS NULL
      OFFSET 0
    ) AS a
    WHERE above.parent_id > s.scenario_id
  )
  SELECT above.scenario_id, above.parent_id FROM above
  WHERE EXISTS (SELECT FROM above last WHERE last.parent_id = s.scenario_id)
) AS c
WHERE s.parent_id > s.scenario_id
UNION ALL
SELECT 'open_reject', CASE r.kind WHEN 'scenario' THEN 'scenario' ELSE 'library' END, r.owner, r.library_name, NULL,
  nullif(r.path, ''), NULL, r.code || ': ' || r.reason, 'error', 'service'
FROM simcat.rejects r
WHERE r.resolved_at IS NULL;
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.data_quality.problem IS 'date_not_understood, no_date, future_date (by more than a day), size_not_understood, no_size, names_differ_by_case, name_under_two_owners, result_without_parent, parent_but_no_result, own_parent, parent_missing, parent_cycle (of two or more) or open_reject. Later versions may add more.';
COMMENT ON COLUMN simcat_report.data_quality.severity IS 'error: wrong or not stored. warning: a value is missing or contradicts another. info: may be intended.';
COMMENT ON COLUMN simcat_report.data_quality.fix_by IS 'Who can fix it: uploader (the owner of the library), operator (who runs simcat) or service (who runs the Simulation Cloud).';
--> statement-breakpoint
-- The window has the order of DISTINCT ON, so that the rows are sorted once.
CREATE OR REPLACE VIEW simcat_report.latest_result_per_parent AS
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, p.scenario_id IS NULL AS parent_missing,
  r.result_count, r.scenario_id AS latest_result_id, r.scenario_name AS latest_result_name,
  r.last_modified_at AS latest_result_modified_at
FROM (
  SELECT DISTINCT ON (s.owner, s.library_name, s.parent_id)
    s.owner, s.library_name, s.parent_id, s.scenario_id, s.scenario_name, s.last_modified_at,
    count(*) OVER (
      PARTITION BY s.owner, s.library_name, s.parent_id ORDER BY s.last_modified_at DESC NULLS LAST, s.scenario_id DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS result_count
  FROM simcat_report.scenarios s
  WHERE s.parent_id IS NOT NULL AND s.is_result IS NOT FALSE AND s.parent_id <> s.scenario_id
  ORDER BY s.owner, s.library_name, s.parent_id, s.last_modified_at DESC NULLS LAST, s.scenario_id DESC
) AS r
LEFT JOIN simcat.scenarios p
  ON p.owner = r.owner AND p.library_name = r.library_name AND p.scenario_id = r.parent_id AND p.removed_at IS NULL;
--> statement-breakpoint
-- Compare each pair of versions once: a row for each of the constant fields would take twice as long.
CREATE OR REPLACE VIEW simcat_report.changes AS
SELECT h.valid_to AS changed_at, CASE WHEN f.field IN ('removed', 'returned') THEN f.field ELSE 'changed' END AS kind,
  'library' AS what, h.owner, h.library_name, NULL::bigint AS scenario_id, h.library_name AS name,
  CASE WHEN f.field NOT IN ('removed', 'returned') THEN f.field END AS field, d.old_value, d.new_value, h.superseded_by AS run_id
FROM simcat.library_history h
-- A first version supersedes nothing.
JOIN simcat_report.library_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
CROSS JOIN LATERAL (
  SELECT unnest(array_remove(ARRAY[
    CASE WHEN h.removed_at IS NULL AND n.removed_at IS NOT NULL THEN 'removed' END,
    CASE WHEN h.removed_at IS NOT NULL AND n.removed_at IS NULL THEN 'returned' END,
    CASE WHEN h.library_owner IS DISTINCT FROM n.library_owner THEN 'library_owner' END,
    CASE WHEN h.package_name IS DISTINCT FROM n.package_name THEN 'package_name' END,
    CASE WHEN h.package_version IS DISTINCT FROM n.package_version THEN 'package_version' END,
    CASE WHEN h.description IS DISTINCT FROM n.description THEN 'description' END,
    CASE WHEN h.last_modified IS DISTINCT FROM n.last_modified THEN 'last_modified' END,
    CASE WHEN h.file_size IS DISTINCT FROM n.file_size THEN 'file_size' END
  ], NULL)) AS field
) AS f
CROSS JOIN LATERAL (
  SELECT
    CASE f.field
      WHEN 'library_owner' THEN h.library_owner
      WHEN 'package_name' THEN h.package_name
      WHEN 'package_version' THEN h.package_version
      WHEN 'description' THEN h.description
      WHEN 'last_modified' THEN h.last_modified
      WHEN 'file_size' THEN h.file_size
    END AS old_value,
    CASE f.field
      WHEN 'library_owner' THEN n.library_owner
      WHEN 'package_name' THEN n.package_name
      WHEN 'package_version' THEN n.package_version
      WHEN 'description' THEN n.description
      WHEN 'last_modified' THEN n.last_modified
      WHEN 'file_size' THEN n.file_size
    END AS new_value
) AS d
UNION ALL
SELECT h.valid_to, CASE WHEN f.field IN ('removed', 'returned') THEN f.field ELSE 'changed' END,
  'scenario', h.owner, h.library_name, h.scenario_id, n.scenario_name,
  CASE WHEN f.field NOT IN ('removed', 'returned') THEN f.field END, d.old_value, d.new_value, h.superseded_by
FROM simcat.scenario_history h
JOIN simcat_report.scenario_versions n ON n.owner = h.owner AND n.library_name = h.library_name
  AND n.scenario_id = h.scenario_id AND n.valid_from = h.valid_to AND n.valid_from <> n.first_seen_at
CROSS JOIN LATERAL (
  SELECT unnest(array_remove(ARRAY[
    CASE WHEN h.removed_at IS NULL AND n.removed_at IS NOT NULL THEN 'removed' END,
    CASE WHEN h.removed_at IS NOT NULL AND n.removed_at IS NULL THEN 'returned' END,
    CASE WHEN h.scenario_name IS DISTINCT FROM n.scenario_name THEN 'scenario_name' END,
    CASE WHEN h.is_result IS DISTINCT FROM n.is_result THEN 'is_result' END,
    CASE WHEN nullif(h.parent_id, 0) IS DISTINCT FROM n.parent_id THEN 'parent_id' END,
    CASE WHEN h.last_modified IS DISTINCT FROM n.last_modified THEN 'last_modified' END,
    CASE WHEN h.description IS DISTINCT FROM n.description THEN 'description' END
  ], NULL)) AS field
) AS f
CROSS JOIN LATERAL (
  SELECT
    CASE f.field
      WHEN 'scenario_name' THEN h.scenario_name
      WHEN 'is_result' THEN h.is_result::text
      WHEN 'parent_id' THEN nullif(h.parent_id, 0)::text
      WHEN 'last_modified' THEN h.last_modified
      WHEN 'description' THEN h.description
    END AS old_value,
    CASE f.field
      WHEN 'scenario_name' THEN n.scenario_name
      WHEN 'is_result' THEN n.is_result::text
      WHEN 'parent_id' THEN n.parent_id::text
      WHEN 'last_modified' THEN n.last_modified
      WHEN 'description' THEN n.description
    END AS new_value
) AS d
UNION ALL
SELECT l.changed_at, 'added', 'library', l.owner, l.library_name, NULL, l.library_name, NULL, NULL, NULL, l.run_id
FROM simcat.libraries l
WHERE l.changed_at = l.first_seen_at
UNION ALL
SELECT h.valid_from, 'added', 'library', h.owner, h.library_name, NULL, h.library_name, NULL, NULL, NULL, h.run_id
FROM simcat.library_history h
WHERE h.valid_from = h.first_seen_at
UNION ALL
SELECT s.changed_at, 'added', 'scenario', s.owner, s.library_name, s.scenario_id, s.scenario_name, NULL, NULL, NULL, s.run_id
FROM simcat.scenarios s
WHERE s.changed_at = s.first_seen_at
UNION ALL
SELECT h.valid_from, 'added', 'scenario', h.owner, h.library_name, h.scenario_id, h.scenario_name, NULL, NULL, NULL, h.run_id
FROM simcat.scenario_history h
WHERE h.valid_from = h.first_seen_at;
