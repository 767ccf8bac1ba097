ALTER TABLE "simcat"."library_sync" ADD COLUMN "settles_at" timestamp (6) with time zone;
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.settles_at IS 'After which moment no edit could carry the bookmark''s text any more: a content read that began later settles the bookmark. By the database''s clock. NULL: not known, and then the bookmark is not settled.';
--> statement-breakpoint
CREATE INDEX "rejects_unnamed_index" ON "simcat"."rejects" USING btree ("first_seen_at") WHERE kind = 'listing' AND owner IS NULL;
--> statement-breakpoint
-- Views and functions for people and BI tools. A name, a column or its type never changes here; new ones come at the end.
-- Functions read the views only, so that who may read the views can call them, and their bodies are parsed now, so that
-- nobody's search_path changes what they mean.
DO $$ BEGIN
  COMMENT ON SCHEMA simcat_report IS 'What one Simulation Cloud organization has, for analysts and BI tools: stable views over a copy kept by simcat. Begin with libraries and scenarios, which show live rows only. How fresh it all is: data_complete_as_of. Nothing here is ever renamed. Times are moments by the database''s clock.';
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
--> statement-breakpoint
CREATE VIEW simcat_report.libraries AS
SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
  l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
  n.scenario_count, n.result_count, l.first_seen_at, l.changed_at, l.run_id, l.listed, l.metadata
FROM simcat.libraries l
LEFT JOIN LATERAL (
  SELECT count(*) AS scenario_count,
    count(*) FILTER (WHERE coalesce(s.is_result, nullif(s.parent_id, 0) IS NOT NULL)) AS result_count
  FROM simcat.scenarios s
  WHERE s.owner = l.owner AND s.library_name = l.library_name AND s.removed_at IS NULL
) AS n ON true
WHERE l.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.libraries IS 'Live libraries: those that the service lists and that were stored. One row each. What is listed and not stored yet stands in library_freshness alone.';
COMMENT ON COLUMN simcat_report.libraries.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.libraries.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.libraries.library_owner IS 'The user or organization that the metadata names as owner, for people; may differ from owner. NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.libraries.package_name IS 'The simulation package. NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.libraries.package_version IS 'The package''s version as sent: text, to be compared part by part (version_order does). NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.libraries.description IS 'The description as sent; may be long. NULL: none was sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.libraries.last_modified IS 'The service''s lastModified text as sent. Format and zone are its own: do not sort or compare it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.libraries.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.libraries.file_size IS 'The size text as sent, such as 240 KB. NULL: none was sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.libraries.file_size_bytes IS 'Our reading of file_size, 1 KB being 1024 bytes; as rounded as the text is. NULL: not sure; never 0 for unknown, so that a sum leaves unknown sizes out.';
COMMENT ON COLUMN simcat_report.libraries.scenario_count IS 'Live scenarios of the library, results included.';
COMMENT ON COLUMN simcat_report.libraries.result_count IS 'Those of them that are results: the flag says so, or it is not sent and there is a parent.';
COMMENT ON COLUMN simcat_report.libraries.first_seen_at IS 'When simcat first stored it, by the database''s clock. Not when it was made. Survives removal and return.';
COMMENT ON COLUMN simcat_report.libraries.changed_at IS 'Since when this version holds: when simcat stored it, not when somebody edited it.';
COMMENT ON COLUMN simcat_report.libraries.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.libraries.listed IS 'The list entry as it came, unknown fields included. NULL: no entry could be read so far.';
COMMENT ON COLUMN simcat_report.libraries.metadata IS 'The metadata object as it came, unknown fields included. NULL: no metadata could be read so far.';
--> statement-breakpoint
CREATE VIEW simcat_report.scenarios AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, nullif(s.parent_id, 0) AS parent_id,
  s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.changed_at, s.run_id, s.raw
FROM simcat.scenarios s
WHERE s.removed_at IS NULL
  -- The foreign key says that there is a library. Asked this way round, 1,000,000 scenarios take half the time of a join.
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l
    WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );
--> statement-breakpoint
COMMENT ON VIEW simcat_report.scenarios IS 'Live scenarios: neither they nor their library are removed. One row each.';
COMMENT ON COLUMN simcat_report.scenarios.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.scenarios.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.scenarios.scenario_id IS 'The scenario''s number, unique within its library only. May exceed what a double holds exactly.';
COMMENT ON COLUMN simcat_report.scenarios.scenario_name IS 'The name as sent. People rename: never derive parentage from it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenarios.is_result IS 'The service''s flag: true for a result, false for a parent scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenarios.parent_id IS 'The scenario''s parent within the same library, as the service says. NULL: none (a 0 is taken as none). It may be missing, or the scenario itself: see scenario_parents.';
COMMENT ON COLUMN simcat_report.scenarios.last_modified IS 'The service''s lastModified text as sent. Format and zone are its own: do not sort or compare it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenarios.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.scenarios.description IS 'The description as sent. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenarios.first_seen_at IS 'When simcat first stored it, by the database''s clock. Not when it was made. Survives removal and return.';
COMMENT ON COLUMN simcat_report.scenarios.changed_at IS 'Since when this version holds: when simcat stored it, not when somebody edited it.';
COMMENT ON COLUMN simcat_report.scenarios.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.scenarios.raw IS 'The whole object as it came, unknown fields included.';
--> statement-breakpoint
CREATE VIEW simcat_report.scenario_parents AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.last_modified_at,
  s.parent_id, p.scenario_name AS parent_name, p.is_result AS parent_is_result, p.last_modified_at AS parent_last_modified_at,
  s.parent_id IS NOT NULL AND p.scenario_id IS NULL AS parent_missing,
  coalesce(s.parent_id = s.scenario_id, false) AS is_own_parent
FROM simcat_report.scenarios s
LEFT JOIN simcat.scenarios p
  ON p.owner = s.owner AND p.library_name = s.library_name AND p.scenario_id = s.parent_id AND p.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.scenario_parents IS 'Each live scenario beside its parent, one level up and within the same library. A scenario without a parent has a row too.';
COMMENT ON COLUMN simcat_report.scenario_parents.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.scenario_parents.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.scenario_parents.scenario_id IS 'The scenario''s number, unique within its library only. May exceed what a double holds exactly.';
COMMENT ON COLUMN simcat_report.scenario_parents.scenario_name IS 'The name as sent. People rename: never derive parentage from it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenario_parents.is_result IS 'The service''s flag: true for a result, false for a parent scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_parents.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_id IS 'As in scenarios: the parent that the service names. NULL: none.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_name IS 'The parent''s name. NULL: no parent, a missing one, or one without a name.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_is_result IS 'The parent''s is_result: true where a result was run again. NULL: no parent, a missing one, or not sent.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_last_modified_at IS 'The parent''s last_modified_at. NULL: no parent, a missing one, or a date that could not be read.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_missing IS 'Whether a parent is named and no live scenario of the library has that number.';
COMMENT ON COLUMN simcat_report.scenario_parents.is_own_parent IS 'Whether the scenario names itself as its parent.';
--> statement-breakpoint
CREATE VIEW simcat_report.parents_without_results AS
-- Grouped, not NOT EXISTS: planners take that for a nested loop over the whole library, minutes long for a large one.
SELECT g.owner, g.library_name, g.scenario_id, max(g.scenario_name) AS scenario_name, max(g.last_modified) AS last_modified,
  max(g.last_modified_at) AS last_modified_at, max(g.first_seen_at) AS first_seen_at
FROM (
  SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.last_modified, s.last_modified_at, s.first_seen_at,
    true AS is_parent
  FROM simcat_report.scenarios s
  WHERE NOT coalesce(s.is_result, s.parent_id IS NOT NULL)
  UNION ALL
  SELECT r.owner, r.library_name, r.parent_id, NULL, NULL, NULL, NULL, false
  FROM simcat_report.scenarios r
  WHERE r.parent_id IS NOT NULL AND r.is_result IS NOT FALSE AND r.parent_id <> r.scenario_id
) AS g
GROUP BY g.owner, g.library_name, g.scenario_id
HAVING bool_and(g.is_parent);
--> statement-breakpoint
COMMENT ON VIEW simcat_report.parents_without_results IS 'Scenarios that were never run, or whose results are all gone: live scenarios that are no result, and of which no live one is.';
COMMENT ON COLUMN simcat_report.parents_without_results.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.parents_without_results.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_id IS 'The scenario''s number, unique within its library only. May exceed what a double holds exactly.';
COMMENT ON COLUMN simcat_report.parents_without_results.scenario_name IS 'The name as sent. People rename: never derive parentage from it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified IS 'The service''s lastModified text as sent. Format and zone are its own: do not sort or compare it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.parents_without_results.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.parents_without_results.first_seen_at IS 'When simcat first stored it, by the database''s clock. Not when it was made. Survives removal and return.';
--> statement-breakpoint
CREATE VIEW simcat_report.latest_result_per_parent AS
SELECT r.owner, r.library_name, r.parent_id, p.scenario_name AS parent_name, p.scenario_id IS NULL AS parent_missing,
  r.result_count, r.scenario_id AS latest_result_id, r.scenario_name AS latest_result_name,
  r.last_modified_at AS latest_result_modified_at
FROM (
  SELECT DISTINCT ON (s.owner, s.library_name, s.parent_id)
    s.owner, s.library_name, s.parent_id, s.scenario_id, s.scenario_name, s.last_modified_at,
    count(*) OVER (PARTITION BY s.owner, s.library_name, s.parent_id) AS result_count
  FROM simcat_report.scenarios s
  WHERE s.parent_id IS NOT NULL AND s.is_result IS NOT FALSE AND s.parent_id <> s.scenario_id
  ORDER BY s.owner, s.library_name, s.parent_id, s.last_modified_at DESC NULLS LAST, s.scenario_id DESC
) AS r
LEFT JOIN simcat.scenarios p
  ON p.owner = r.owner AND p.library_name = r.library_name AND p.scenario_id = r.parent_id AND p.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.latest_result_per_parent IS 'One row for each parent that has results: how many, and the latest of them by last_modified_at (undated ones come last), then by number.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.parent_id IS 'The parent that the results name.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.parent_name IS 'Its name. NULL: it is missing, or has no name.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.parent_missing IS 'Whether no live scenario of the library has the number parent_id.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.result_count IS 'How many live results name this parent.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.latest_result_id IS 'The scenario_id of the latest.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.latest_result_name IS 'Its name. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.latest_result_per_parent.latest_result_modified_at IS 'Its last_modified_at. NULL: not one of the results has a date that could be read.';
--> statement-breakpoint
CREATE VIEW simcat_report.owner_storage AS
SELECT l.owner, count(*) AS libraries, coalesce(sum(l.file_size_bytes), 0) AS bytes,
  count(*) FILTER (WHERE l.file_size_bytes IS NULL) AS sizes_unread
FROM simcat.libraries l
WHERE l.removed_at IS NULL
GROUP BY l.owner;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.owner_storage IS 'Libraries and bytes of each owner with live libraries.';
COMMENT ON COLUMN simcat_report.owner_storage.owner IS 'The uploading user.';
COMMENT ON COLUMN simcat_report.owner_storage.libraries IS 'Live libraries.';
COMMENT ON COLUMN simcat_report.owner_storage.bytes IS 'Sum of the sizes that could be read.';
COMMENT ON COLUMN simcat_report.owner_storage.sizes_unread IS 'Libraries that bytes leaves out: no size was sent, or it could not be read.';
--> statement-breakpoint
CREATE FUNCTION simcat_report.version_order(version text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
  WITH bare AS (
    -- Without a leading v, and without what follows a +: that names a build, not another version.
    SELECT string_to_array(
      regexp_replace(btrim(regexp_replace(version, '\+.*$', ''), E' \t\r\n'), '^[vV](?=[0-9])', ''), '.') AS parts
  ), cut AS (
    SELECT p.at, substring(p.part FROM '^[0-9]+') AS digits, regexp_replace(p.part, '^[0-9]+', '') AS rest
    FROM bare CROSS JOIN LATERAL unnest(bare.parts) WITH ORDINALITY AS p(part, at)
    UNION ALL
    -- 1.2 is 1.2.0: parts that are not there count as 0.
    SELECT at, '0', '' FROM bare CROSS JOIN LATERAL generate_series(cardinality(nullif(bare.parts, '{}')) + 1, 12) AS at
  ), numbered AS (
    SELECT at, ltrim(digits, '0') AS number, rest FROM cut
  )
  -- A number sorts by its length, then by its digits; what is no number before any; a part with a rest before the bare one.
  SELECT string_agg(
    coalesce(lpad((length(number) + 1)::text, 4, '0') || number, '0000')::bytea
      || CASE WHEN number IS NOT NULL AND rest = '' THEN '\xff'::bytea ELSE replace(rest, '\', '\\')::bytea END,
    '\x00'::bytea ORDER BY at)
  FROM numbered;
END;
--> statement-breakpoint
COMMENT ON FUNCTION simcat_report.version_order(text) IS 'What a package version sorts by: compares part by part as numbers (10.0.0 after 9.9.9, 2.1 like 2.1.0); a part that is no number comes before any, 1.0.0-beta before 1.0.0, and what follows a + says nothing. ORDER BY simcat_report.version_order(package_version). NULL for NULL or no version at all.';
--> statement-breakpoint
CREATE VIEW simcat_report.package_versions AS
SELECT v.package_name, v.package_version, v.libraries, v.owners,
  first_value(CASE WHEN v.place IS NOT NULL AND v.package_name IS NOT NULL THEN v.package_version END) OVER newest AS newest_version,
  CASE WHEN v.place IS NOT NULL AND v.package_name IS NOT NULL THEN dense_rank() OVER same - 1 END AS versions_behind,
  CASE WHEN v.place IS NOT NULL AND v.package_name IS NOT NULL THEN dense_rank() OVER same = 1 END AS is_newest
FROM (
  SELECT l.package_name, l.package_version, count(*) AS libraries, count(DISTINCT l.owner) AS owners,
    simcat_report.version_order(l.package_version) AS place
  FROM simcat.libraries l
  WHERE l.removed_at IS NULL
  GROUP BY l.package_name, l.package_version
) AS v
WINDOW same AS (PARTITION BY v.package_name ORDER BY v.place DESC NULLS LAST),
  newest AS (PARTITION BY v.package_name ORDER BY v.place DESC NULLS LAST, v.package_version COLLATE "C" DESC);
--> statement-breakpoint
COMMENT ON VIEW simcat_report.package_versions IS 'Which package versions the live libraries use, and how far each lies behind the newest in use. Versions are compared part by part: 10.0.0 is newer than 9.9.9, 2.1 and 2.1.0 are the same.';
COMMENT ON COLUMN simcat_report.package_versions.package_name IS 'The package. NULL: libraries whose package is not known.';
COMMENT ON COLUMN simcat_report.package_versions.package_version IS 'The version as sent. NULL: libraries whose version is not known.';
COMMENT ON COLUMN simcat_report.package_versions.libraries IS 'Live libraries that use it.';
COMMENT ON COLUMN simcat_report.package_versions.owners IS 'Owners of those libraries.';
COMMENT ON COLUMN simcat_report.package_versions.newest_version IS 'The newest version of this package that any live library uses. NULL: the package is not known, or none of its versions is.';
COMMENT ON COLUMN simcat_report.package_versions.versions_behind IS 'How many newer versions of this package are in use. NULL: package or version is not known.';
COMMENT ON COLUMN simcat_report.package_versions.is_newest IS 'Whether none newer is in use. NULL: package or version is not known.';
--> statement-breakpoint
CREATE VIEW simcat_report.stale_libraries AS
SELECT l.owner, l.library_name, l.package_name, l.package_version, l.file_size_bytes, l.last_modified, l.last_modified_at,
  floor(extract(epoch FROM now() - l.last_modified_at) / 86400)::bigint AS days_since_modified
FROM simcat.libraries l
WHERE l.removed_at IS NULL
ORDER BY l.last_modified_at NULLS LAST, l.owner, l.library_name;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.stale_libraries IS 'Live libraries, the longest unchanged first, those without a readable date last.';
COMMENT ON COLUMN simcat_report.stale_libraries.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.stale_libraries.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.stale_libraries.package_name IS 'The simulation package. NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.stale_libraries.package_version IS 'The package''s version as sent: text, to be compared part by part (version_order does). NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.stale_libraries.file_size_bytes IS 'Our reading of file_size, 1 KB being 1024 bytes; as rounded as the text is. NULL: not sure; never 0 for unknown, so that a sum leaves unknown sizes out.';
COMMENT ON COLUMN simcat_report.stale_libraries.last_modified IS 'The service''s lastModified text as sent. Format and zone are its own: do not sort or compare it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.stale_libraries.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.stale_libraries.days_since_modified IS 'Whole days since last_modified_at; negative for a date in the future. NULL: the date could not be read.';
--> statement-breakpoint
CREATE VIEW simcat_report.run_history AS
SELECT r.id AS run_id, r.kind, r.trigger, r.status, r.started_at, r.finished_at, r.finished_at - r.started_at AS duration,
  r.scope IS NULL AS is_whole,
  CASE
    WHEN r.scope IS NOT NULL OR r.finished_at IS NULL THEN false
    WHEN r.status = 'ok' THEN true
    WHEN r.status = 'partial' OR r.status = 'held' AND r.libraries_read + r.libraries_skipped + r.libraries_failed > 0
      -- Entries that name no library nobody can read, so that nobody knows what the listing lacked.
      THEN NOT EXISTS (
        SELECT FROM simcat.rejects x
        WHERE x.kind = 'listing' AND x.owner IS NULL AND x.first_seen_at <= r.finished_at
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
  r.error, r.scope, r.allow_removals, r.version
FROM simcat.sync_runs r
CROSS JOIN LATERAL (SELECT r.status NOT IN ('running', 'abandoned') AS counted) AS c;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.run_history IS 'One row for every run of simcat.';
COMMENT ON COLUMN simcat_report.run_history.run_id IS 'Number of the run; rises with time, with gaps.';
COMMENT ON COLUMN simcat_report.run_history.kind IS 'sync (incremental) or backfill (full).';
COMMENT ON COLUMN simcat_report.run_history.trigger IS 'cli (a command) or schedule (the long-running worker).';
COMMENT ON COLUMN simcat_report.run_history.status IS 'running; ok, partial (some libraries failed or have rejects), held (a guard withheld removals); source_unavailable, source_untrusted, unauthorized, database_failed, interrupted, abandoned or failed.';
COMMENT ON COLUMN simcat_report.run_history.started_at IS 'When it began.';
COMMENT ON COLUMN simcat_report.run_history.finished_at IS 'When it ended, or was found abandoned. NULL: still running, or dead and not yet found.';
COMMENT ON COLUMN simcat_report.run_history.duration IS 'finished_at - started_at. NULL: not finished.';
COMMENT ON COLUMN simcat_report.run_history.is_whole IS 'Whether it looked at the whole organization, not at selected libraries or owners.';
COMMENT ON COLUMN simcat_report.run_history.saw_everything IS 'Whether it came to its end over a complete listing of the whole organization: every library listed was looked at, though some may have failed.';
COMMENT ON COLUMN simcat_report.run_history.libraries_listed IS 'Libraries in the listing. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_read IS 'Libraries whose content was read and stored, changed or not. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_skipped IS 'Libraries not read, because nothing was due. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_changed IS 'Libraries read that were new or changed. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_failed IS 'Libraries that could not be read or stored; their earlier copy stays. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_removed IS 'Libraries marked as removed. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_added IS 'Scenarios stored for the first time. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_changed IS 'Scenarios that changed or came back. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_removed IS 'Scenarios marked as removed; those of a removed library are not counted. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_unchanged IS 'Scenarios read and found the same; those of skipped libraries are not counted. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.rejects IS 'Items that could not be read. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.silent_changes IS 'Libraries that had changed without a new date. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.requests IS 'Requests sent, retries included. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.retries IS 'Requests sent again. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.bytes IS 'Bytes of the answers. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.summary IS 'The counts in a line: scenarios + added, ~ changed, - removed. NULL while the run is going, and for one that was abandoned: counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.error IS 'Why it ended as it did and what to do. NULL: nothing beyond the counts.';
COMMENT ON COLUMN simcat_report.run_history.scope IS 'The selected libraries and owners. NULL: the whole organization.';
COMMENT ON COLUMN simcat_report.run_history.allow_removals IS 'Whether it was allowed to pass the removal guards.';
COMMENT ON COLUMN simcat_report.run_history.version IS 'The simcat version that ran.';
--> statement-breakpoint
CREATE VIEW simcat_report.library_freshness AS
SELECT y.owner, y.library_name, l.owner IS NOT NULL AS is_stored,
  greatest(y.bookmark_seen_at, listing.started_at) AS last_listed_at,
  y.content_read_at AS last_read_at,
  w.whole_read_at AS last_whole_read_at,
  y.last_success_at,
  greatest(l.changed_at, (
    SELECT max(s.changed_at) FROM simcat.scenarios s WHERE s.owner = y.owner AND s.library_name = y.library_name
  )) AS last_changed_at,
  now() - y.content_read_at AS lag,
  coalesce(w.has_settled AND y.listed_text = y.bookmark AND y.owes IS NULL, false) AS settled,
  y.settles_at, y.owes, y.failures, y.last_error, y.last_failed_at,
  (
    SELECT count(*) FROM simcat.rejects x
    WHERE x.owner = y.owner AND x.library_name = y.library_name AND x.resolved_at IS NULL
  ) AS open_rejects,
  CASE
    WHEN y.last_success_at IS NULL THEN
      -- What a whole run in good order did not list was not there; what was first met after the last whole run neither.
      CASE
        WHEN y.content_read_at IS NULL AND (y.failures = 0 OR y.failures = 1 AND y.last_failed_at > whole.finished_at)
          THEN whole.started_at
        ELSE clean.started_at
      END
    -- Not listed in the last whole run; else that would have read it.
    WHEN y.owes = 'restored' THEN greatest(w.whole_read_at, whole.started_at)
    -- Proven by the text that the whole run listed, unless something went wrong then or before.
    WHEN w.has_settled AND w.is_whole
      AND (y.owes IS NULL OR y.owes = 'failure' AND y.failures = 1 AND y.last_failed_at > whole.finished_at)
      THEN greatest(w.whole_read_at, whole.started_at)
    ELSE w.whole_read_at
  END AS complete_as_of
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
    coalesce(y.bookmark <> '' AND y.content_read_at > y.settles_at AND y.doubtful_reads = 0, false) AS has_settled,
    coalesce(y.content_read_at <= y.last_success_at, false) AS is_whole,
    CASE WHEN y.content_read_at <= y.last_success_at THEN y.content_read_at
      -- Stored in part since: the last whole read began no earlier than the run that stored it.
      ELSE coalesce((
        SELECT r.started_at FROM simcat.sync_runs r WHERE r.started_at <= y.last_success_at ORDER BY r.id DESC LIMIT 1
      ), y.last_success_at)
    END AS whole_read_at
) AS w
WHERE l.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.library_freshness IS 'How fresh the copy of each listed library is, and what stands in its way. Removed libraries have no row; libraries that were never stored have one.';
COMMENT ON COLUMN simcat_report.library_freshness.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.library_freshness.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.library_freshness.is_stored IS 'Whether anything of it was ever stored.';
COMMENT ON COLUMN simcat_report.library_freshness.last_listed_at IS 'It was listed at this moment or later: the start of the last complete run over a whole listing, or when its listed date was first seen. NULL: not known.';
COMMENT ON COLUMN simcat_report.library_freshness.last_read_at IS 'When the last read that was stored, whole or in part, began. NULL: nothing was stored so far.';
COMMENT ON COLUMN simcat_report.library_freshness.last_whole_read_at IS 'What is stored is no older than this: when the last read that was stored whole began (the start of its run, where a partial one followed). NULL: never stored whole.';
COMMENT ON COLUMN simcat_report.library_freshness.last_success_at IS 'When its content was last stored whole, or found to be the same. NULL: never.';
COMMENT ON COLUMN simcat_report.library_freshness.last_changed_at IS 'When simcat last stored a change of the library or of one of its scenarios. NULL: never stored.';
COMMENT ON COLUMN simcat_report.library_freshness.lag IS 'now() - last_read_at. Long is normal for a library whose date did not change. NULL: nothing was stored so far.';
COMMENT ON COLUMN simcat_report.library_freshness.settled IS 'Whether an unchanged date proves that the copy is still right: it was read later than any edit that could carry the same date, and owes nothing.';
COMMENT ON COLUMN simcat_report.library_freshness.settles_at IS 'After this moment no edit can carry the stored date any more; a read that begins later settles it. NULL: not known.';
COMMENT ON COLUMN simcat_report.library_freshness.owes IS 'Why it must be read again whatever its date says: rejects, failure, shrunk or restored. NULL: nothing is owed.';
COMMENT ON COLUMN simcat_report.library_freshness.failures IS 'Failed reads in a row; 0 after one that worked.';
COMMENT ON COLUMN simcat_report.library_freshness.last_error IS 'What the last failure was. NULL: none since the last read that was stored.';
COMMENT ON COLUMN simcat_report.library_freshness.last_failed_at IS 'When a read last failed; kept after it works again. NULL: never.';
COMMENT ON COLUMN simcat_report.library_freshness.open_rejects IS 'Items of it that could not be read and still stand.';
COMMENT ON COLUMN simcat_report.library_freshness.complete_as_of IS 'Everything that the service had of this library up to this moment, and dated, is stored. NULL: nothing can be said.';
--> statement-breakpoint
CREATE VIEW simcat_report.data_complete_as_of AS
SELECT c.complete_as_of, now() - c.complete_as_of AS age,
  whole.run_id AS last_whole_run_id, whole.started_at AS last_whole_run_started_at, whole.status AS last_whole_run_status,
  f.libraries_behind,
  behind.owner AS furthest_behind_owner, behind.library_name AS furthest_behind_library,
  CASE WHEN f.libraries = f.read AND whole.run_id IS NOT NULL AND f.read > 0 THEN least(whole.started_at, f.oldest_read) END
    AS every_library_read_since,
  (
    SELECT count(*) FROM simcat.rejects x
    WHERE x.kind = 'listing' AND x.code = 'unaddressable' AND x.owner IS NOT NULL AND x.resolved_at IS NULL
  ) AS unaddressable_libraries
FROM (SELECT 1) AS one
LEFT JOIN (
  SELECT run_id, started_at, status FROM simcat_report.run_history WHERE saw_everything ORDER BY run_id DESC LIMIT 1
) AS whole ON true
CROSS JOIN LATERAL (
  SELECT count(*) AS libraries, count(v.complete_as_of) AS known, min(v.complete_as_of) AS lowest,
    count(v.last_whole_read_at) AS read, min(v.last_whole_read_at) AS oldest_read,
    count(*) FILTER (WHERE v.complete_as_of IS NULL OR v.complete_as_of < whole.started_at) AS libraries_behind
  FROM simcat_report.library_freshness v
) AS f
CROSS JOIN LATERAL (
  -- Without a whole run nobody knows which libraries there are.
  SELECT CASE WHEN f.libraries = f.known AND whole.run_id IS NOT NULL THEN least(whole.started_at, f.lowest) END AS complete_as_of
) AS c
LEFT JOIN LATERAL (
  SELECT v.owner, v.library_name FROM simcat_report.library_freshness v
  WHERE v.complete_as_of IS NULL OR v.complete_as_of < whole.started_at
  ORDER BY v.complete_as_of NULLS FIRST, v.owner, v.library_name LIMIT 1
) AS behind ON true;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.data_complete_as_of IS 'One row, always: up to which moment this copy has everything. It relies on the service dating its edits; every_library_read_since does not.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.complete_as_of IS 'Everything that the service had up to this moment, and dated, is stored: the start of the last run that saw everything, lowered to complete_as_of of the libraries that failed, owe a read, or cannot be proven by their date yet. NULL: no run saw everything yet, or a library was never stored whole and no run was without fault.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.age IS 'now() - complete_as_of. NULL as there.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_id IS 'The last run that saw everything (run_history.saw_everything). NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_started_at IS 'Its start: all but libraries_behind libraries are complete as of then. NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_status IS 'Its status. NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.libraries_behind IS 'Libraries that hold complete_as_of back behind that start.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.furthest_behind_owner IS 'Owner of the library that is furthest behind. NULL: none is.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.furthest_behind_library IS 'Its name. NULL: none is.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.every_library_read_since IS 'Every library was read whole at this moment or later, so that even edits without a date up to it are stored; never later than the start of the last run that saw everything. NULL: no such run yet, some library never was, or there is none.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.unaddressable_libraries IS 'Listed libraries that no request can name and so no copy can hold; complete_as_of leaves them out.';
--> statement-breakpoint
CREATE VIEW simcat_report.library_versions AS
SELECT owner, library_name, changed_at AS valid_from, NULL::timestamptz AS valid_to, removed_at, library_owner, package_name,
  package_version, description, last_modified, last_modified_at, file_size, file_size_bytes, first_seen_at, run_id, listed, metadata
FROM simcat.libraries
UNION ALL
SELECT owner, library_name, valid_from, valid_to, removed_at, library_owner, package_name,
  package_version, description, last_modified, last_modified_at, file_size, file_size_bytes, first_seen_at, run_id, listed, metadata
FROM simcat.library_history;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.library_versions IS 'Every version of every library that was kept, removed ones included: half-open, without gaps.';
COMMENT ON COLUMN simcat_report.library_versions.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.library_versions.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.library_versions.valid_from IS 'First moment of this version (included).';
COMMENT ON COLUMN simcat_report.library_versions.valid_to IS 'End of this version (not included), the valid_from of the next. NULL: it still holds.';
COMMENT ON COLUMN simcat_report.library_versions.removed_at IS 'Since when this version is marked as removed. NULL: it is not.';
COMMENT ON COLUMN simcat_report.library_versions.library_owner IS 'The user or organization that the metadata names as owner, for people; may differ from owner. NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.library_versions.package_name IS 'The simulation package. NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.library_versions.package_version IS 'The package''s version as sent: text, to be compared part by part (version_order does). NULL: not sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.library_versions.description IS 'The description as sent; may be long. NULL: none was sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.library_versions.last_modified IS 'The service''s lastModified text as sent. Format and zone are its own: do not sort or compare it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.library_versions.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.library_versions.file_size IS 'The size text as sent, such as 240 KB. NULL: none was sent, or no metadata could be read so far.';
COMMENT ON COLUMN simcat_report.library_versions.file_size_bytes IS 'Our reading of file_size, 1 KB being 1024 bytes; as rounded as the text is. NULL: not sure; never 0 for unknown, so that a sum leaves unknown sizes out.';
COMMENT ON COLUMN simcat_report.library_versions.first_seen_at IS 'When simcat first stored it, by the database''s clock. Not when it was made. Survives removal and return.';
COMMENT ON COLUMN simcat_report.library_versions.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.library_versions.listed IS 'The list entry as it came, unknown fields included. NULL: no entry could be read so far.';
COMMENT ON COLUMN simcat_report.library_versions.metadata IS 'The metadata object as it came, unknown fields included. NULL: no metadata could be read so far.';
--> statement-breakpoint
CREATE VIEW simcat_report.scenario_versions AS
SELECT owner, library_name, scenario_id, changed_at AS valid_from, NULL::timestamptz AS valid_to, removed_at, scenario_name,
  is_result, nullif(parent_id, 0) AS parent_id, last_modified, last_modified_at, description, first_seen_at, run_id, raw
FROM simcat.scenarios
UNION ALL
SELECT owner, library_name, scenario_id, valid_from, valid_to, removed_at, scenario_name,
  is_result, nullif(parent_id, 0), last_modified, last_modified_at, description, first_seen_at, run_id, raw
FROM simcat.scenario_history;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.scenario_versions IS 'Every version of every scenario that was kept, removed ones included: half-open, without gaps. A scenario is live only while its library is, which is not in here: scenarios_as_of looks at both.';
COMMENT ON COLUMN simcat_report.scenario_versions.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.scenario_versions.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.scenario_versions.scenario_id IS 'The scenario''s number, unique within its library only. May exceed what a double holds exactly.';
COMMENT ON COLUMN simcat_report.scenario_versions.valid_from IS 'First moment of this version (included).';
COMMENT ON COLUMN simcat_report.scenario_versions.valid_to IS 'End of this version (not included), the valid_from of the next. NULL: it still holds.';
COMMENT ON COLUMN simcat_report.scenario_versions.removed_at IS 'Since when this version is marked as removed. NULL: it is not.';
COMMENT ON COLUMN simcat_report.scenario_versions.scenario_name IS 'The name as sent. People rename: never derive parentage from it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.is_result IS 'The service''s flag: true for a result, false for a parent scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.parent_id IS 'The scenario''s parent within the same library, as the service says. NULL: none (a 0 is taken as none). It may be missing, or the scenario itself: see scenario_parents.';
COMMENT ON COLUMN simcat_report.scenario_versions.last_modified IS 'The service''s lastModified text as sent. Format and zone are its own: do not sort or compare it. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.scenario_versions.description IS 'The description as sent. NULL: none was sent.';
COMMENT ON COLUMN simcat_report.scenario_versions.first_seen_at IS 'When simcat first stored it, by the database''s clock. Not when it was made. Survives removal and return.';
COMMENT ON COLUMN simcat_report.scenario_versions.run_id IS 'The run that wrote this version (run_history.run_id).';
COMMENT ON COLUMN simcat_report.scenario_versions.raw IS 'The whole object as it came, unknown fields included.';
--> statement-breakpoint
-- The row types of the views, so that keys keep their collation (else no index serves them) and columns can be added.
CREATE FUNCTION simcat_report.libraries_as_of(moment timestamptz) RETURNS SETOF simcat_report.libraries
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
    l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
    n.scenario_count, n.result_count, l.first_seen_at, l.valid_from, l.run_id, l.listed, l.metadata
  FROM simcat_report.library_versions l
  LEFT JOIN LATERAL (
    SELECT count(*) AS scenario_count,
      count(*) FILTER (WHERE coalesce(s.is_result, s.parent_id IS NOT NULL)) AS result_count
    FROM simcat_report.scenario_versions s
    WHERE s.owner = l.owner AND s.library_name = l.library_name
      AND s.valid_from <= moment AND (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL
  ) AS n ON true
  WHERE l.valid_from <= moment AND (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL;
END;
--> statement-breakpoint
COMMENT ON FUNCTION simcat_report.libraries_as_of(timestamp with time zone) IS 'The libraries that were live at that moment, as they were: the columns of libraries, and counts of what was there then. Of a moment before what simcat prune kept, only what did not change since is there.';
--> statement-breakpoint
CREATE FUNCTION simcat_report.scenarios_as_of(moment timestamptz) RETURNS SETOF simcat_report.scenarios
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.parent_id,
    s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.valid_from, s.run_id, s.raw
  FROM simcat_report.scenario_versions s
  JOIN simcat_report.library_versions l ON l.owner = s.owner AND l.library_name = s.library_name
    AND l.valid_from <= moment AND (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL
  WHERE s.valid_from <= moment AND (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL;
END;
--> statement-breakpoint
COMMENT ON FUNCTION simcat_report.scenarios_as_of(timestamp with time zone) IS 'The scenarios that were live at that moment, and whose libraries were, as they were: the columns of scenarios. Of a moment before what simcat prune kept, only what did not change since is there.';
--> statement-breakpoint
CREATE VIEW simcat_report.changes AS
SELECT h.valid_to AS changed_at, f.kind, 'library' AS what, h.owner, h.library_name, NULL::bigint AS scenario_id, h.library_name AS name, f.field,
  d.old_value, d.new_value, h.superseded_by AS run_id
FROM simcat.library_history h
JOIN simcat_report.library_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.valid_from = h.valid_to
CROSS JOIN (VALUES
  ('removed', NULL), ('returned', NULL),
  ('changed', 'library_owner'), ('changed', 'package_name'), ('changed', 'package_version'),
  ('changed', 'description'), ('changed', 'last_modified'), ('changed', 'file_size')
) AS f(kind, field)
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
WHERE CASE f.kind
  WHEN 'removed' THEN h.removed_at IS NULL AND n.removed_at IS NOT NULL
  WHEN 'returned' THEN h.removed_at IS NOT NULL AND n.removed_at IS NULL
  ELSE d.old_value IS DISTINCT FROM d.new_value
END
UNION ALL
SELECT h.valid_to, f.kind, 'scenario', h.owner, h.library_name, h.scenario_id, n.scenario_name, f.field,
  d.old_value, d.new_value, h.superseded_by
FROM simcat.scenario_history h
JOIN simcat_report.scenario_versions n
  ON n.owner = h.owner AND n.library_name = h.library_name AND n.scenario_id = h.scenario_id AND n.valid_from = h.valid_to
CROSS JOIN (VALUES
  ('removed', NULL), ('returned', NULL),
  ('changed', 'scenario_name'), ('changed', 'is_result'), ('changed', 'parent_id'),
  ('changed', 'last_modified'), ('changed', 'description')
) AS f(kind, field)
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
WHERE CASE f.kind
  WHEN 'removed' THEN h.removed_at IS NULL AND n.removed_at IS NOT NULL
  WHEN 'returned' THEN h.removed_at IS NOT NULL AND n.removed_at IS NULL
  ELSE d.old_value IS DISTINCT FROM d.new_value
END
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
--> statement-breakpoint
COMMENT ON VIEW simcat_report.changes IS 'What changed: one row for each field that another version changed, and one for each library or scenario that was added, removed or came back. Filter by changed_at. A removed library takes its scenarios along without rows of their own. What simcat prune deleted is not told.';
COMMENT ON COLUMN simcat_report.changes.changed_at IS 'When simcat stored it, by the database''s clock; not when somebody did it.';
COMMENT ON COLUMN simcat_report.changes.kind IS 'added, changed, removed or returned.';
COMMENT ON COLUMN simcat_report.changes.what IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.changes.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.changes.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.changes.scenario_id IS 'The scenario''s number. NULL: it is about the library itself.';
COMMENT ON COLUMN simcat_report.changes.name IS 'The name of the library, or of the scenario after the change. NULL: a scenario without a name.';
COMMENT ON COLUMN simcat_report.changes.field IS 'The field that changed. NULL: added, removed or returned as a whole.';
COMMENT ON COLUMN simcat_report.changes.old_value IS 'The value before, as text. NULL: none, or no field.';
COMMENT ON COLUMN simcat_report.changes.new_value IS 'The value after, as text. NULL: none, or no field.';
COMMENT ON COLUMN simcat_report.changes.run_id IS 'The run that stored it (run_history.run_id).';
--> statement-breakpoint
CREATE VIEW simcat_report.removed AS
SELECT l.removed_at, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id, l.library_name AS name,
  false AS went_with_library, l.last_modified_at, l.first_seen_at, l.run_id
FROM simcat.libraries l
WHERE l.removed_at IS NOT NULL
UNION ALL
SELECT s.removed_at, 'scenario', s.owner, s.library_name, s.scenario_id, s.scenario_name,
  false, s.last_modified_at, s.first_seen_at, s.run_id
FROM simcat.scenarios s
WHERE s.removed_at IS NOT NULL
UNION ALL
SELECT l.removed_at, 'scenario', s.owner, s.library_name, s.scenario_id, s.scenario_name,
  true, s.last_modified_at, s.first_seen_at, l.run_id
FROM simcat.libraries l
JOIN simcat.scenarios s ON s.owner = l.owner AND s.library_name = l.library_name
WHERE l.removed_at IS NOT NULL AND s.removed_at IS NULL;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.removed IS 'What vanished and did not come back: removed libraries, removed scenarios, and the scenarios that went with their library. Each thing ever stored is here or in libraries and scenarios.';
COMMENT ON COLUMN simcat_report.removed.removed_at IS 'When simcat found it gone. No proof that somebody deleted it: what is unpublished looks the same.';
COMMENT ON COLUMN simcat_report.removed.what IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.removed.owner IS 'The uploading user, first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.removed.library_name IS 'The library''s name, second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.removed.scenario_id IS 'The scenario''s number. NULL: it is a library.';
COMMENT ON COLUMN simcat_report.removed.name IS 'The name of the library or of the scenario. NULL: a scenario without a name.';
COMMENT ON COLUMN simcat_report.removed.went_with_library IS 'Whether the scenario itself was never missing and only its library is gone.';
COMMENT ON COLUMN simcat_report.removed.last_modified_at IS 'Our reading of last_modified: the start of the minute, day or other grain that the text names; a text without a zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or a format that simcat does not know.';
COMMENT ON COLUMN simcat_report.removed.first_seen_at IS 'When simcat first stored it, by the database''s clock. Not when it was made. Survives removal and return.';
COMMENT ON COLUMN simcat_report.removed.run_id IS 'The run that marked it (run_history.run_id).';
--> statement-breakpoint
CREATE FUNCTION simcat_report.scenario_tree(owner text, library_name text)
RETURNS TABLE (
  scenario_id bigint, parent_id bigint, root_id bigint, depth integer, path bigint[], scenario_name text, is_result boolean,
  last_modified_at timestamptz, parent_missing boolean, is_own_parent boolean, is_in_cycle boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
-- Planners take a library for a row or two, and loops over what is 100,000 rows last for minutes.
SET enable_nestloop = off
BEGIN ATOMIC
  WITH RECURSIVE node AS MATERIALIZED (
    SELECT s.scenario_id, s.parent_id, s.scenario_name, s.is_result, s.last_modified_at
    FROM simcat_report.scenarios s
    WHERE s.owner = scenario_tree.owner AND s.library_name = scenario_tree.library_name
  ), grown AS (
    SELECT n.scenario_id, n.scenario_id AS root_id, 0 AS depth, ARRAY[n.scenario_id] AS path
    FROM node n
    WHERE NOT EXISTS (SELECT FROM node p WHERE p.scenario_id = n.parent_id)
    UNION ALL
    SELECT n.scenario_id, g.root_id, g.depth + 1, g.path || n.scenario_id
    FROM grown g JOIN node n ON n.parent_id = g.scenario_id
  ), afloat AS MATERIALIZED (
    -- In a cycle, or below one: no way leads from here to a root.
    SELECT n.scenario_id, n.parent_id FROM node n
    WHERE NOT EXISTS (SELECT FROM grown g WHERE g.scenario_id = n.scenario_id)
  ), above AS (
    SELECT a.scenario_id AS start, a.parent_id AS at FROM afloat a
    UNION
    SELECT b.start, a.parent_id FROM above b JOIN afloat a ON a.scenario_id = b.at
  ), circular AS (
    SELECT b.start AS scenario_id, min(b.at) AS smallest FROM above b GROUP BY b.start HAVING bool_or(b.at = b.start)
  ), ring AS (
    SELECT c.scenario_id, c.scenario_id AS root_id, 0 AS depth, ARRAY[c.scenario_id] AS path
    FROM circular c WHERE c.scenario_id = c.smallest
    UNION ALL
    SELECT a.scenario_id, r.root_id, r.depth + 1, r.path || a.scenario_id
    FROM ring r JOIN afloat a ON a.parent_id = r.scenario_id AND a.scenario_id <> r.root_id
  )
  SELECT t.scenario_id, n.parent_id, t.root_id, t.depth, t.path, n.scenario_name, n.is_result, n.last_modified_at,
    t.depth = 0 AND n.parent_id IS NOT NULL AND c.scenario_id IS NULL, coalesce(n.parent_id = n.scenario_id, false),
    c.scenario_id IS NOT NULL
  FROM (SELECT * FROM grown UNION ALL SELECT * FROM ring) AS t
  JOIN node n ON n.scenario_id = t.scenario_id
  LEFT JOIN circular c ON c.scenario_id = t.scenario_id
  ORDER BY t.path;
END;
--> statement-breakpoint
COMMENT ON FUNCTION simcat_report.scenario_tree(text, text) IS 'The live scenarios of one library as a tree, parents before children: depth (0 for a root), path of numbers from the root, root_id. A scenario whose parent is missing is a root with parent_missing. Of a cycle the smallest number is the root, and is_in_cycle marks its members; it ends on any data.';
--> statement-breakpoint
CREATE VIEW simcat_report.data_quality AS
SELECT 'date_not_understood' AS problem, 'library' AS what, l.owner, l.library_name, NULL::bigint AS scenario_id,
  'last_modified' AS field, l.last_modified AS value, 'last_modified is in a format that simcat does not know' AS detail
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.last_modified <> '' AND l.last_modified_at IS NULL
UNION ALL
SELECT 'no_date', 'library', l.owner, l.library_name, NULL, 'last_modified', l.last_modified,
  'the library is listed without a date, so its content is read in every run'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND coalesce(l.last_modified, '') = ''
UNION ALL
SELECT 'size_not_understood', 'library', l.owner, l.library_name, NULL, 'file_size', l.file_size,
  'file_size is in a format that simcat does not know; sums leave it out'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND l.file_size IS NOT NULL AND l.file_size_bytes IS NULL
UNION ALL
SELECT 'names_differ_by_case', 'library', l.owner, l.library_name, NULL, 'library_name', NULL,
  'another library has the same owner and name but for capitals'
FROM simcat.libraries l
WHERE l.removed_at IS NULL AND EXISTS (
  SELECT FROM simcat.libraries o
  WHERE o.removed_at IS NULL AND (o.owner <> l.owner OR o.library_name <> l.library_name)
    AND lower(o.owner COLLATE "default") = lower(l.owner COLLATE "default")
    AND lower(o.library_name COLLATE "default") = lower(l.library_name COLLATE "default")
)
UNION ALL
SELECT f.problem, 'scenario', p.owner, p.library_name, p.scenario_id,
  CASE f.problem
    WHEN 'date_not_understood' THEN 'last_modified'
    WHEN 'parent_but_no_result' THEN 'is_result'
    ELSE 'parent_id'
  END,
  CASE f.problem
    WHEN 'date_not_understood' THEN p.last_modified
    WHEN 'parent_but_no_result' THEN 'false'
    ELSE p.parent_id::text
  END,
  CASE f.problem
    WHEN 'date_not_understood' THEN 'last_modified is in a format that simcat does not know'
    WHEN 'result_without_parent' THEN 'is_result is true and there is no parent'
    WHEN 'parent_but_no_result' THEN 'is_result is false and there is a parent'
    WHEN 'own_parent' THEN 'the scenario is its own parent'
    ELSE 'no live scenario of the library has this id'
  END
FROM (
  SELECT s.owner, s.library_name, s.scenario_id, s.parent_id, s.last_modified,
    s.last_modified <> '' AND s.last_modified_at IS NULL AS is_undated,
    s.is_result AND s.parent_id IS NULL AS is_parentless,
    NOT s.is_result AND s.parent_id IS NOT NULL AS is_no_result,
    s.parent_id = s.scenario_id AS is_own_parent,
    s.parent_id IS NOT NULL AND parent.scenario_id IS NULL AS is_parent_missing
  FROM simcat_report.scenarios s
  LEFT JOIN simcat.scenarios parent ON parent.owner = s.owner AND parent.library_name = s.library_name
    AND parent.scenario_id = s.parent_id AND parent.removed_at IS NULL
) AS p
CROSS JOIN LATERAL unnest(ARRAY[
  CASE WHEN p.is_undated THEN 'date_not_understood' END,
  CASE WHEN p.is_parentless THEN 'result_without_parent' END,
  CASE WHEN p.is_no_result THEN 'parent_but_no_result' END,
  CASE WHEN p.is_own_parent THEN 'own_parent' END,
  CASE WHEN p.is_parent_missing THEN 'parent_missing' END
]) AS f(problem)
WHERE f.problem IS NOT NULL
  AND (p.is_undated OR p.is_parentless OR p.is_no_result OR p.is_own_parent OR p.is_parent_missing)
UNION ALL
-- A cycle of two or more has a smallest number, whose parent is greater: rare, since parents are made before their results.
SELECT 'parent_cycle', 'scenario', s.owner, s.library_name, c.scenario_id, 'parent_id', c.parent_id::text,
  'the parents of this scenario lead back to it'
FROM simcat_report.scenarios s
CROSS JOIN LATERAL (
  WITH RECURSIVE above AS (
    SELECT s.scenario_id, s.parent_id
    UNION
    -- OFFSET 0: each is looked up by its whole key, whatever the planner takes the size of a library to be.
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
  nullif(r.path, ''), NULL, r.code || ': ' || r.reason
FROM simcat.rejects r
WHERE r.resolved_at IS NULL;
--> statement-breakpoint
COMMENT ON VIEW simcat_report.data_quality IS 'What looks wrong in the live data: one row for each problem.';
COMMENT ON COLUMN simcat_report.data_quality.problem IS 'date_not_understood, no_date, size_not_understood, names_differ_by_case, result_without_parent, parent_but_no_result, own_parent, parent_missing, parent_cycle (of two or more) or open_reject. More may come.';
COMMENT ON COLUMN simcat_report.data_quality.what IS 'library or scenario.';
COMMENT ON COLUMN simcat_report.data_quality.owner IS 'Owner of the library. NULL: a reject that names none.';
COMMENT ON COLUMN simcat_report.data_quality.library_name IS 'Name of the library. NULL: a reject that names none.';
COMMENT ON COLUMN simcat_report.data_quality.scenario_id IS 'The scenario''s number. NULL: it is about the library, or a reject.';
COMMENT ON COLUMN simcat_report.data_quality.field IS 'The field at fault. NULL: the thing as a whole.';
COMMENT ON COLUMN simcat_report.data_quality.value IS 'What the field holds. NULL: nothing, or a reject.';
COMMENT ON COLUMN simcat_report.data_quality.detail IS 'What is wrong, in a sentence.';
