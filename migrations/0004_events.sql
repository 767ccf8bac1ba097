-- What happened, written with the versions.
CREATE TABLE "simcat"."events" (
	"seen_at" timestamp (6) with time zone NOT NULL,
	"run_id" bigint NOT NULL,
	"scenario_id" bigint,
	"parent_id" bigint,
	"service_date" timestamp (6) with time zone,
	"bytes" bigint NOT NULL,
	"scenarios" bigint NOT NULL,
	"results" bigint NOT NULL,
	"is_result" boolean,
	"kind" text NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"scenario_name" text,
	"fields" text[],
	"old_values" text[],
	"new_values" text[]
);
--> statement-breakpoint
ALTER TABLE "simcat"."library_days" ADD COLUMN "is_stored" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "simcat"."library_days" ADD COLUMN "last_work_at" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "first_listed_at" timestamp (6) with time zone;--> statement-breakpoint
ALTER TABLE "simcat"."owner_days" ADD COLUMN "not_stored" bigint;--> statement-breakpoint
ALTER TABLE "simcat"."owner_days" ADD COLUMN "active" bigint;--> statement-breakpoint
ALTER TABLE "simcat"."owner_days" ADD COLUMN "quiet" bigint;--> statement-breakpoint
ALTER TABLE "simcat"."owner_days" ADD COLUMN "stale" bigint;--> statement-breakpoint
-- What earlier prunes deleted has no events either.
ALTER TABLE "simcat"."prunes" ADD COLUMN "events" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "simcat"."prunes" ALTER COLUMN "events" SET DEFAULT false;--> statement-breakpoint
-- The events that the versions still show: all since the latest prune.
CREATE TABLE simcat.upgrade_libraries AS
SELECT owner, library_name, library_owner, package_name, package_version, description, last_modified, file_size, file_size_bytes,
  last_modified_at, first_seen_at, removed_at, run_id, changed_at AS valid_from, NULL::timestamptz AS valid_to, NULL::int8 AS superseded_by
FROM simcat.libraries
UNION ALL
SELECT owner, library_name, library_owner, package_name, package_version, description, last_modified, file_size, file_size_bytes,
  last_modified_at, first_seen_at, removed_at, run_id, valid_from, valid_to, superseded_by
FROM simcat.library_history;
--> statement-breakpoint
CREATE TABLE simcat.upgrade_scenarios AS
SELECT owner, library_name, scenario_id, nullif(parent_id, 0) AS parent_id, scenario_name, is_result, last_modified, description,
  coalesce(is_result, nullif(parent_id, 0) IS NOT NULL) AS counts_as_result,
  last_modified_at, first_seen_at, removed_at, run_id, changed_at AS valid_from, NULL::timestamptz AS valid_to, NULL::int8 AS superseded_by
FROM simcat.scenarios
UNION ALL
SELECT owner, library_name, scenario_id, nullif(parent_id, 0), scenario_name, is_result, last_modified, description,
  coalesce(is_result, nullif(parent_id, 0) IS NOT NULL),
  last_modified_at, first_seen_at, removed_at, run_id, valid_from, valid_to, superseded_by
FROM simcat.scenario_history;
--> statement-breakpoint
CREATE INDEX ON simcat.upgrade_libraries (owner, library_name, valid_from);--> statement-breakpoint
CREATE INDEX ON simcat.upgrade_scenarios (owner, library_name, scenario_id, valid_to);--> statement-breakpoint
ANALYZE simcat.upgrade_libraries, simcat.upgrade_scenarios;--> statement-breakpoint
CREATE TABLE simcat.upgrade_horizon AS
SELECT coalesce((SELECT max(cutoff) FROM simcat.prunes), '-infinity') AS cutoff, coalesce((
  SELECT finished_at FROM simcat.sync_runs
  WHERE scope IS NULL AND finished_at IS NOT NULL AND (status = 'ok' AND listing_complete IS NOT FALSE OR listing_complete AND (status = 'partial'
    OR status = 'held' AND libraries_read + libraries_skipped + libraries_failed > 0))
  ORDER BY id LIMIT 1), 'infinity') AS began_at;
--> statement-breakpoint
INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, service_date, bytes, scenarios, results, fields, old_values, new_values)
SELECT v.valid_from, coalesce(p.superseded_by, v.run_id), k.kind, v.owner, v.library_name, v.last_modified_at,
  CASE WHEN v.removed_at IS NULL THEN coalesce(v.file_size_bytes, 0) ELSE 0 END
    - CASE WHEN p.owner IS NULL OR p.removed_at IS NOT NULL THEN 0 ELSE coalesce(p.file_size_bytes, 0) END,
  coalesce(n.sign * n.scenarios, 0), coalesce(n.sign * n.results, 0), d.fields, d.old_values, d.new_values
FROM simcat.upgrade_horizon h, simcat.upgrade_libraries v
LEFT JOIN simcat.library_history p ON p.owner = v.owner AND p.library_name = v.library_name AND p.valid_to = v.valid_from
CROSS JOIN LATERAL (
  SELECT CASE
    WHEN v.removed_at IS NOT NULL AND p.owner IS NOT NULL AND p.removed_at IS NULL THEN 'removed'
    WHEN v.valid_from = v.first_seen_at THEN CASE WHEN v.first_seen_at <= (SELECT began_at FROM simcat.upgrade_horizon) THEN 'loaded' ELSE 'added' END
    WHEN v.removed_at IS NULL AND p.removed_at IS NOT NULL THEN 'returned'
    ELSE 'changed'
  END AS kind
) AS k
LEFT JOIN LATERAL (
  -- The scenarios that were loaded, went or returned with the library.
  SELECT CASE WHEN k.kind = 'removed' THEN -1 ELSE 1 END AS sign, count(*) AS scenarios,
    count(*) FILTER (WHERE s.counts_as_result) AS results
  FROM simcat.upgrade_scenarios s
  WHERE s.owner = v.owner AND s.library_name = v.library_name AND s.removed_at IS NULL
    AND CASE WHEN k.kind = 'loaded' THEN s.valid_from = v.valid_from AND s.first_seen_at = v.valid_from
      ELSE s.valid_from < v.valid_from AND (s.valid_to IS NULL OR s.valid_to > v.valid_from
        OR s.valid_to = v.valid_from AND NOT EXISTS (
          SELECT FROM simcat.upgrade_scenarios r WHERE r.owner = s.owner AND r.library_name = s.library_name AND r.scenario_id = s.scenario_id
            AND r.valid_from = v.valid_from AND r.removed_at IS NOT NULL)) END
) AS n ON k.kind IN ('loaded', 'removed', 'returned')
CROSS JOIN LATERAL (
  SELECT array_agg(field) AS fields, array_agg(old_value) AS old_values, array_agg(new_value) AS new_values
  FROM (VALUES ('library_owner', p.library_owner, v.library_owner), ('last_modified', p.last_modified, v.last_modified),
    ('file_size', p.file_size, v.file_size), ('package_name', p.package_name, v.package_name),
    ('package_version', p.package_version, v.package_version), ('description', p.description, v.description))
    AS f(field, old_value, new_value)
  WHERE p.owner IS NOT NULL AND v.valid_from <> v.first_seen_at AND old_value IS DISTINCT FROM new_value
) AS d
WHERE v.valid_from > h.cutoff
ORDER BY v.valid_from;
--> statement-breakpoint
INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, scenario_id, scenario_name, parent_id, is_result, service_date,
  bytes, scenarios, results, fields, old_values, new_values)
SELECT v.valid_from, coalesce(p.superseded_by, v.run_id), CASE WHEN v.removed_at IS NOT NULL AND p.is_live THEN 'removed' WHEN v.valid_from = v.first_seen_at THEN 'added'
    WHEN v.removed_at IS NULL AND NOT p.is_live THEN 'returned' ELSE 'changed' END,
  v.owner, v.library_name, v.scenario_id, v.scenario_name, v.parent_id, v.counts_as_result, v.last_modified_at,
  0, (v.removed_at IS NULL)::int4 - coalesce(p.is_live, false)::int4,
  (v.removed_at IS NULL AND v.counts_as_result)::int4 - coalesce(p.is_live AND p.counts_as_result, false)::int4,
  d.fields, d.old_values, d.new_values
FROM simcat.upgrade_horizon h, simcat.upgrade_scenarios v
LEFT JOIN LATERAL (
  SELECT q.*, q.removed_at IS NULL AS is_live FROM simcat.upgrade_scenarios q
  WHERE q.owner = v.owner AND q.library_name = v.library_name AND q.scenario_id = v.scenario_id AND q.valid_to = v.valid_from
) AS p ON true
CROSS JOIN LATERAL (
  SELECT array_agg(field) AS fields, array_agg(old_value) AS old_values, array_agg(new_value) AS new_values
  FROM (VALUES ('parent_id', p.parent_id::text, v.parent_id::text), ('scenario_name', p.scenario_name, v.scenario_name),
    ('is_result', p.is_result::text, v.is_result::text), ('last_modified', p.last_modified, v.last_modified),
    ('description', p.description, v.description))
    AS f(field, old_value, new_value)
  WHERE p.owner IS NOT NULL AND old_value IS DISTINCT FROM new_value
) AS d
WHERE v.valid_from > h.cutoff
  -- Initial content is counted in the event of its library.
  AND NOT (v.valid_from = v.first_seen_at AND v.valid_from <= h.began_at AND EXISTS (
    SELECT FROM simcat.libraries l WHERE l.owner = v.owner AND l.library_name = v.library_name AND l.first_seen_at = v.first_seen_at))
  -- A version of a scenario is an event unless the library was removed at that time.
  AND NOT EXISTS (
    SELECT FROM simcat.upgrade_libraries l
    WHERE l.owner = v.owner AND l.library_name = v.library_name AND l.removed_at IS NOT NULL
      AND CASE WHEN v.removed_at IS NULL THEN l.valid_from <= v.valid_from AND (l.valid_to IS NULL OR v.valid_from < l.valid_to)
        ELSE l.valid_from < v.valid_from AND (l.valid_to IS NULL OR v.valid_from <= l.valid_to) END)
ORDER BY v.valid_from;
--> statement-breakpoint
-- The libraries that were live at the latest prune, so that the sums are those of the live rows.
INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, service_date, bytes, scenarios, results)
SELECT h.cutoff, v.run_id, 'loaded', v.owner, v.library_name, v.last_modified_at, coalesce(v.file_size_bytes, 0), n.scenarios, n.results
FROM simcat.upgrade_horizon h
JOIN simcat.upgrade_libraries v ON v.removed_at IS NULL AND v.valid_from <= h.cutoff AND (v.valid_to IS NULL OR v.valid_to > h.cutoff)
CROSS JOIN LATERAL (
  SELECT count(*) AS scenarios, count(*) FILTER (WHERE s.counts_as_result) AS results
  FROM simcat.upgrade_scenarios s
  WHERE s.owner = v.owner AND s.library_name = v.library_name AND s.removed_at IS NULL
    AND s.valid_from <= h.cutoff AND (s.valid_to IS NULL OR s.valid_to > h.cutoff)
) AS n;
--> statement-breakpoint
DROP TABLE simcat.upgrade_libraries, simcat.upgrade_scenarios, simcat.upgrade_horizon;--> statement-breakpoint
CREATE INDEX "events_seen_at_index" ON "simcat"."events" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "events_library_index" ON "simcat"."events" USING btree ("owner","library_name","seen_at");--> statement-breakpoint
COMMENT ON TABLE simcat.events IS 'One row for each event of a library or a scenario, written by the statement that stores it, and for each library whose initial content was loaded. The sums of scenarios, results and bytes are those of the live rows. simcat prune deletes nothing of it, unless it is told to.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.seen_at IS 'When simcat stored the event. Not when it happened.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.run_id IS 'The run that stored the event (sync_runs.id).';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.scenario_id IS 'The scenario. NULL: an event of the library itself.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.parent_id IS 'The parent of the scenario. NULL: no parent, or an event of the library itself.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.service_date IS 'last_modified_at of the version that the event stored, or of the last one if it was removed. NULL: no known date.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.bytes IS 'By how much the event changed the sum of file_size_bytes of the live libraries. 0 for an event of a scenario, or if the size is not known.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.scenarios IS 'By how much the event changed the number of live scenarios: for a library that was loaded, removed or returned the number of its scenarios.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.results IS 'By how much the event changed the number of live results.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.is_result IS 'Whether the scenario was a result: the flag is true, or it was not sent and there is a parent. NULL: an event of the library itself.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.kind IS 'loaded (initial content, one row for each library), added, changed, removed or returned.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.owner IS 'Owner of the library.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.library_name IS 'Name of the library.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.scenario_name IS 'Name of the scenario after the event. NULL: no name, or an event of the library itself.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.fields IS 'The fields in which the version differs from the one before. NULL: none, or no version before.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.old_values IS 'The values of fields before the event, as text. NULL as fields.';--> statement-breakpoint
COMMENT ON COLUMN simcat.events.new_values IS 'The values of fields after the event, as text. NULL as fields.';--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.first_listed_at IS 'When a listing named the library first. NULL: an earlier version of simcat recorded the library.';--> statement-breakpoint
COMMENT ON COLUMN simcat.library_days.is_stored IS 'Whether any content of the library was stored. False: listed, and never read yet.';--> statement-breakpoint
COMMENT ON COLUMN simcat.library_days.last_work_at IS 'The latest date of the library and its scenarios. NULL: no known date, not live, or an earlier version wrote the row.';--> statement-breakpoint
COMMENT ON COLUMN simcat.owner_days.not_stored IS 'Listed libraries of which nothing was stored yet. NULL: an earlier version took the snapshot.';--> statement-breakpoint
COMMENT ON COLUMN simcat.owner_days.active IS 'Live libraries with work in the 30 days before the snapshot. NULL: an earlier version took it.';--> statement-breakpoint
COMMENT ON COLUMN simcat.owner_days.quiet IS 'Live libraries whose last work was 30 to 90 days before the snapshot. NULL: an earlier version took it.';--> statement-breakpoint
COMMENT ON COLUMN simcat.owner_days.stale IS 'Live libraries whose last work was more than 90 days before the snapshot. NULL: an earlier version took it.';--> statement-breakpoint
COMMENT ON COLUMN simcat.prunes.events IS 'Whether events before the cutoff were deleted too.';
