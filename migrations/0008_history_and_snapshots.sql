-- A prune of an earlier version would not record itself: one that is in progress loses its lease here, and deletes nothing more.
UPDATE simcat.leases SET token = token + 1, expires_at = clock_timestamp() WHERE holder LIKE '% prune';
--> statement-breakpoint
CREATE TABLE "simcat"."library_days" (
	"owner" text COLLATE "C" NOT NULL,
	"library_name" text COLLATE "C" NOT NULL,
	"from_day" date NOT NULL,
	"to_day" date,
	"live" boolean NOT NULL,
	"scenarios" bigint,
	"results" bigint,
	"bytes" bigint,
	"package_name" text,
	"package_version" text,
	"last_read_at" timestamp (6) with time zone,
	CONSTRAINT "library_days_owner_library_name_from_day_pk" PRIMARY KEY("owner","library_name","from_day"),
	CONSTRAINT "library_days_not_empty" CHECK (to_day > from_day)
);
--> statement-breakpoint
CREATE TABLE "simcat"."owner_days" (
	"day" date NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"libraries" bigint NOT NULL,
	"scenarios" bigint NOT NULL,
	"results" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	"sizes_unread" bigint NOT NULL,
	"oldest_read_at" timestamp (6) with time zone,
	CONSTRAINT "owner_days_owner_day_pk" PRIMARY KEY("owner","day")
);
--> statement-breakpoint
CREATE TABLE "simcat"."prunes" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "simcat"."prunes_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"pruned_at" timestamp (6) with time zone NOT NULL,
	"cutoff" timestamp (6) with time zone NOT NULL,
	"library_versions" bigint,
	"scenario_versions" bigint
);
--> statement-breakpoint
CREATE TABLE "simcat"."snapshot_days" (
	"day" date PRIMARY KEY NOT NULL,
	"run_id" bigint NOT NULL,
	"taken_at" timestamp (6) with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "library_days_open_index" ON "simcat"."library_days" USING btree ("owner","library_name") WHERE to_day IS NULL;
--> statement-breakpoint
CREATE INDEX "owner_days_day_index" ON "simcat"."owner_days" USING btree ("day");
--> statement-breakpoint
-- Prunes by earlier versions, as one row: the last moment at which a version begins whose predecessor is missing, or at which a
-- run ended whose removed rows are missing.
INSERT INTO simcat.prunes (pruned_at, cutoff)
SELECT now(), max(lost.at)
FROM (
  SELECT max(v.valid_from) AS at FROM simcat_report.library_versions v
  WHERE v.valid_from <> v.first_seen_at AND NOT EXISTS (
    SELECT FROM simcat.library_history h
    WHERE h.owner = v.owner AND h.library_name = v.library_name AND h.valid_to = v.valid_from
  )
  UNION ALL
  SELECT max(v.valid_from) FROM simcat_report.scenario_versions v
  WHERE v.valid_from <> v.first_seen_at AND NOT EXISTS (
    SELECT FROM simcat.scenario_history h
    WHERE h.owner = v.owner AND h.library_name = v.library_name AND h.scenario_id = v.scenario_id AND h.valid_to = v.valid_from
  )
  UNION ALL
  SELECT max(r.finished_at) FROM simcat.sync_runs r
  LEFT JOIN (
    SELECT v.run_id, count(*) AS removed FROM simcat_report.library_versions v WHERE v.removed_at IS NOT NULL GROUP BY v.run_id
  ) AS kept ON kept.run_id = r.id
  WHERE r.libraries_removed > coalesce(kept.removed, 0)
  UNION ALL
  SELECT max(r.finished_at) FROM simcat.sync_runs r
  LEFT JOIN (
    SELECT v.run_id, count(*) AS removed FROM simcat_report.scenario_versions v WHERE v.removed_at IS NOT NULL GROUP BY v.run_id
  ) AS kept ON kept.run_id = r.id
  WHERE r.scenarios_removed > coalesce(kept.removed, 0)
) AS lost
HAVING max(lost.at) IS NOT NULL;
--> statement-breakpoint
CREATE VIEW simcat_report.prune_history AS
SELECT p.pruned_at, p.cutoff, p.library_versions, p.scenario_versions
FROM simcat.prunes p;
--> statement-breakpoint
-- libraries_behind no longer counts libraries whose date only has not settled; three columns are new.
CREATE OR REPLACE VIEW simcat_report.data_complete_as_of AS
SELECT c.complete_as_of, now() - c.complete_as_of AS age,
  whole.run_id AS last_whole_run_id, whole.started_at AS last_whole_run_started_at, whole.status AS last_whole_run_status,
  f.libraries_behind,
  behind.owner AS furthest_behind_owner, behind.library_name AS furthest_behind_library,
  CASE WHEN f.libraries = f.read AND whole.run_id IS NOT NULL AND f.read > 0 THEN least(whole.started_at, f.oldest_read) END
    AS every_library_read_since,
  (
    SELECT count(*) FROM simcat.rejects x
    -- If a text in another field cannot be stored, the key is known.
    WHERE x.kind = 'listing' AND (x.code = 'unaddressable' OR x.code = 'bad_text' AND x.owner IS NULL) AND x.resolved_at IS NULL
  ) AS unaddressable_libraries,
  (
    SELECT greatest(first.finished_at, (SELECT max(p.cutoff) FROM simcat.prunes p))
    FROM (SELECT r.finished_at FROM simcat_report.run_history r WHERE r.saw_everything ORDER BY r.run_id LIMIT 1) AS first
  ) AS history_complete_since,
  extract(epoch FROM now() - c.complete_as_of)::double precision AS age_seconds,
  f.libraries_settling
FROM (SELECT 1) AS one
LEFT JOIN (
  SELECT run_id, started_at, status FROM simcat_report.run_history WHERE saw_everything ORDER BY run_id DESC LIMIT 1
) AS whole ON true
CROSS JOIN LATERAL (
  SELECT count(*) AS libraries, count(v.complete_as_of) AS known, min(v.complete_as_of) AS lowest,
    count(v.last_whole_read_at) AS read, min(v.last_whole_read_at) AS oldest_read,
    count(*) FILTER (WHERE o.is_older AND NOT o.is_settling) AS libraries_behind,
    count(*) FILTER (WHERE o.is_older AND o.is_settling) AS libraries_settling
  FROM simcat_report.library_freshness v
  CROSS JOIN LATERAL (
    SELECT v.complete_as_of IS NULL OR v.complete_as_of < whole.started_at AS is_older,
      coalesce(v.owes IS NULL AND v.failures = 0 AND v.last_whole_read_at = v.last_read_at AND v.last_read_at <= v.settles_at, false)
        AS is_settling
  ) AS o
) AS f
CROSS JOIN LATERAL (
  -- Before a run saw everything, the set of libraries is not known.
  SELECT CASE WHEN f.libraries = f.known AND whole.run_id IS NOT NULL THEN least(whole.started_at, f.lowest) END AS complete_as_of
) AS c
LEFT JOIN LATERAL (
  SELECT v.owner, v.library_name FROM simcat_report.library_freshness v
  WHERE (v.complete_as_of IS NULL OR v.complete_as_of < whole.started_at)
    AND (v.owes IS NULL AND v.failures = 0 AND v.last_whole_read_at = v.last_read_at AND v.last_read_at <= v.settles_at) IS NOT TRUE
  ORDER BY v.complete_as_of NULLS FIRST, v.owner, v.library_name LIMIT 1
) AS behind ON true;
--> statement-breakpoint
CREATE FUNCTION simcat_report.history_covers(moment timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
SET search_path = pg_catalog
AS $$
DECLARE
  since timestamptz := (SELECT max(p.cutoff) FROM simcat_report.prune_history p);
BEGIN
  IF moment < since THEN
    RAISE NOTICE 'no rows for %: simcat prune deleted history, which is complete since %', moment, since
      USING HINT = 'Ask for a later time. simcat_report.daily_libraries and daily_owners keep the numbers of earlier days.';
    RETURN false;
  END IF;
  RETURN true;
END $$;
--> statement-breakpoint
-- OFFSET 0 keeps the check a step of its own, so that it runs once per call and not once per row. The start of a version is compared
-- with its result, so that the check runs even if no version is old enough.
CREATE OR REPLACE FUNCTION simcat_report.libraries_as_of(moment timestamptz) RETURNS SETOF simcat_report.libraries
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT l.owner, l.library_name, l.library_owner, l.package_name, l.package_version, l.description,
    l.last_modified, l.last_modified_at, l.file_size, l.file_size_bytes,
    n.scenario_count, n.result_count, l.first_seen_at, l.valid_from, l.run_id, l.listed, l.metadata
  FROM (SELECT moment AS at WHERE simcat_report.history_covers(moment) OFFSET 0) AS covered
  JOIN simcat_report.library_versions l ON l.valid_from <= covered.at
  LEFT JOIN LATERAL (
    SELECT count(*) AS scenario_count,
      count(*) FILTER (WHERE coalesce(s.is_result, s.parent_id IS NOT NULL)) AS result_count
    FROM simcat_report.scenario_versions s
    WHERE s.owner = l.owner AND s.library_name = l.library_name
      AND s.valid_from <= moment AND (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL
  ) AS n ON true
  WHERE (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL;
END;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION simcat_report.scenarios_as_of(moment timestamptz) RETURNS SETOF simcat_report.scenarios
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.parent_id,
    s.last_modified, s.last_modified_at, s.description, s.first_seen_at, s.valid_from, s.run_id, s.raw
  FROM (SELECT moment AS at WHERE simcat_report.history_covers(moment) OFFSET 0) AS covered
  JOIN simcat_report.scenario_versions s ON s.valid_from <= covered.at
  JOIN simcat_report.library_versions l ON l.owner = s.owner AND l.library_name = s.library_name
    AND l.valid_from <= covered.at AND (l.valid_to IS NULL OR moment < l.valid_to) AND l.removed_at IS NULL
  WHERE (s.valid_to IS NULL OR moment < s.valid_to) AND s.removed_at IS NULL;
END;
--> statement-breakpoint
CREATE VIEW simcat_report.daily_libraries AS
SELECT d.day, l.owner, l.library_name, l.live, l.scenarios, l.scenarios - l.results AS parents, l.results, l.bytes,
  l.package_name, l.package_version, l.last_read_at,
  extract(epoch FROM d.taken_at - l.last_read_at)::double precision AS read_age_seconds
FROM simcat.snapshot_days d
JOIN simcat.library_days l ON l.from_day <= d.day AND (l.to_day IS NULL OR d.day < l.to_day);
--> statement-breakpoint
CREATE VIEW simcat_report.daily_owners AS
SELECT o.day, o.owner, o.libraries, o.scenarios, o.scenarios - o.results AS parents, o.results, o.bytes, o.sizes_unread,
  o.oldest_read_at, extract(epoch FROM d.taken_at - o.oldest_read_at)::double precision AS oldest_read_age_seconds
FROM simcat.owner_days o
JOIN simcat.snapshot_days d ON d.day = o.day;
--> statement-breakpoint
COMMENT ON TABLE simcat.prunes IS 'The prunes that deleted history, one row each. A prune that deletes only resolved rejects, or nothing, has no row. These rows are never deleted.';
COMMENT ON COLUMN simcat.prunes.id IS 'Number of the prune; increases with time.';
COMMENT ON COLUMN simcat.prunes.pruned_at IS 'When the prune first deleted history. For prunes by versions before this table: when the schema was updated.';
COMMENT ON COLUMN simcat.prunes.cutoff IS 'Versions that ended before this time were deleted, with everything that was removed before it. Times from it on can be asked for. Recorded with the first deletion, so it holds for an interrupted prune too.';
COMMENT ON COLUMN simcat.prunes.library_versions IS 'Number of versions of libraries deleted. NULL: not known, because the prune was made by a version before this table.';
COMMENT ON COLUMN simcat.prunes.scenario_versions IS 'Number of versions of scenarios deleted. NULL: not known, because the prune was made by a version before this table.';
--> statement-breakpoint
COMMENT ON TABLE simcat.snapshot_days IS 'The UTC days that have a snapshot, one row each: the first good run without selectors to end on a day takes it. A day without such a run has no row. simcat prune deletes nothing here.';
COMMENT ON COLUMN simcat.snapshot_days.day IS 'The day in UTC, by the database''s clock.';
COMMENT ON COLUMN simcat.snapshot_days.run_id IS 'The run that took the snapshot (sync_runs.id, no foreign key).';
COMMENT ON COLUMN simcat.snapshot_days.taken_at IS 'When it was taken, at the end of that run. Ages of reads are measured to this time.';
--> statement-breakpoint
COMMENT ON TABLE simcat.library_days IS 'The daily snapshots of the libraries, stored sparsely: a row holds from its first day until the next row of the library. Days without a snapshot (snapshot_days) are not known. simcat prune deletes nothing here.';
COMMENT ON COLUMN simcat.library_days.owner IS 'Owner of the library; with library_name the key of libraries, which may not contain it any more.';
COMMENT ON COLUMN simcat.library_days.library_name IS 'Name of the library; with owner the key of libraries, which may not contain it any more.';
COMMENT ON COLUMN simcat.library_days.from_day IS 'The first day, in UTC, whose snapshot found the library like this.';
COMMENT ON COLUMN simcat.library_days.to_day IS 'The day whose snapshot found another state: the row holds for the days before it. NULL: it still holds.';
COMMENT ON COLUMN simcat.library_days.live IS 'Whether the library was live. A removed one has one row with false, in which everything else is NULL. A library that no snapshot found live has no row.';
COMMENT ON COLUMN simcat.library_days.scenarios IS 'Number of its live scenarios, results included. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat.library_days.results IS 'Number of those that are results, as in library_sync.result_count. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat.library_days.bytes IS 'libraries.file_size_bytes. NULL: the size is not known, or the library was removed.';
COMMENT ON COLUMN simcat.library_days.package_name IS 'libraries.package_name. NULL: not known, or the library was removed.';
COMMENT ON COLUMN simcat.library_days.package_version IS 'libraries.package_version. NULL: not known, or the library was removed.';
COMMENT ON COLUMN simcat.library_days.last_read_at IS 'library_sync.content_read_at: when the last stored read of its content started. NULL: never read, or removed.';
--> statement-breakpoint
COMMENT ON TABLE simcat.owner_days IS 'The sums of each daily snapshot by owner, for all owners that had a library in any snapshot up to that day. simcat prune deletes nothing here.';
COMMENT ON COLUMN simcat.owner_days.day IS 'The day in UTC, as in snapshot_days.';
COMMENT ON COLUMN simcat.owner_days.owner IS 'The uploading user.';
COMMENT ON COLUMN simcat.owner_days.libraries IS 'Number of live libraries. 0: all of them were removed.';
COMMENT ON COLUMN simcat.owner_days.scenarios IS 'Number of live scenarios, results included.';
COMMENT ON COLUMN simcat.owner_days.results IS 'Number of those that are results.';
COMMENT ON COLUMN simcat.owner_days.bytes IS 'Sum of the known sizes of the live libraries.';
COMMENT ON COLUMN simcat.owner_days.sizes_unread IS 'Number of live libraries whose size is not known, which bytes omits.';
COMMENT ON COLUMN simcat.owner_days.oldest_read_at IS 'The earliest last_read_at of the live libraries. NULL: no library is live, or none was ever read.';
--> statement-breakpoint
COMMENT ON VIEW simcat_report.prune_history IS 'The prunes that deleted history, one row each. Earlier times than the latest cutoff cannot be asked for: libraries_as_of() and scenarios_as_of() return no rows for them.';
COMMENT ON COLUMN simcat_report.prune_history.pruned_at IS 'When the prune first deleted history. For prunes by versions that did not record it: when the schema was updated.';
COMMENT ON COLUMN simcat_report.prune_history.cutoff IS 'Versions that ended before this time were deleted, with everything that was removed before it.';
COMMENT ON COLUMN simcat_report.prune_history.library_versions IS 'Number of versions of libraries deleted. NULL: not known, because the prune was made by a version that did not record it.';
COMMENT ON COLUMN simcat_report.prune_history.scenario_versions IS 'Number of versions of scenarios deleted. NULL: not known, because the prune was made by a version that did not record it.';
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.data_complete_as_of.libraries_behind IS 'Number of libraries that are complete only as of an earlier time, because something is wrong or missing: a failed or partial read, a reason to read again, or a date that cannot prove anything. Libraries whose date only has to settle are in libraries_settling.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.furthest_behind_owner IS 'Owner of the library among libraries_behind that is complete as of the earliest time. NULL: no library is behind.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_started_at IS 'When that run started: all libraries except libraries_behind and libraries_settling are complete as of then. NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.history_complete_since IS 'Versions, changes and removals are complete from this time on, and libraries_as_of() and scenarios_as_of() show the organization as it was: the end of the first run that saw everything, or the latest cutoff of simcat prune if that is later. NULL: no run has seen everything yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.age_seconds IS 'age in seconds. NULL: complete_as_of is NULL.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.libraries_settling IS 'Number of libraries that were read completely and without problems, and whose date has to settle before it can prove that nothing changed since that read. complete_as_of waits for them too.';
--> statement-breakpoint
COMMENT ON VIEW simcat_report.changes IS 'One row for each field that a new version changed, and one for each library or scenario that was added, removed or returned. Filter by changed_at. The scenarios of a removed library have no rows of their own. Complete since data_complete_as_of.history_complete_since: simcat prune deletes earlier changes.';
COMMENT ON VIEW simcat_report.library_versions IS 'Every kept version of every library, removed ones included. A version is valid from valid_from (inclusive) to valid_to (exclusive), without gaps. Complete since data_complete_as_of.history_complete_since.';
COMMENT ON VIEW simcat_report.scenario_versions IS 'Every kept version of every scenario, removed ones included. A version is valid from valid_from (inclusive) to valid_to (exclusive), without gaps. Complete since data_complete_as_of.history_complete_since. A scenario is live only while its library is, which is not checked here: scenarios_as_of() checks both.';
COMMENT ON FUNCTION simcat_report.libraries_as_of(timestamp with time zone) IS 'The libraries that were live at a time, as they were: the columns of libraries, with the counts of that time. For a time before the latest cutoff of simcat prune there are no rows, and a NOTICE says since when the history is complete.';
COMMENT ON FUNCTION simcat_report.scenarios_as_of(timestamp with time zone) IS 'The scenarios that were live at a time, together with their libraries, as they were: the columns of scenarios. For a time before the latest cutoff of simcat prune there are no rows, and a NOTICE says since when the history is complete.';
COMMENT ON FUNCTION simcat_report.history_covers(timestamp with time zone) IS 'Whether no prune deleted history of this time or later. If one did, it raises a NOTICE that says since when the history is complete. libraries_as_of() and scenarios_as_of() check it.';
--> statement-breakpoint
COMMENT ON VIEW simcat_report.daily_libraries IS 'Each library on each day (UTC), as the first good run to end on that day left it. A removed library keeps a row with live = false. Days without a good run over the whole organization have no rows. simcat prune deletes nothing here. Filter by day, owner or library.';
COMMENT ON COLUMN simcat_report.daily_libraries.day IS 'The day in UTC, by the database''s clock.';
COMMENT ON COLUMN simcat_report.daily_libraries.owner IS 'The uploading user, the first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.daily_libraries.library_name IS 'Name of the library, the second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.daily_libraries.live IS 'Whether the library was live. false: it was removed since an earlier day, and all values are NULL. A library that no snapshot found live has no row.';
COMMENT ON COLUMN simcat_report.daily_libraries.scenarios IS 'Number of its live scenarios, results included. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat_report.daily_libraries.parents IS 'Number of those that are not results. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat_report.daily_libraries.results IS 'Number of those that are results. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat_report.daily_libraries.bytes IS 'Its size, as libraries.file_size_bytes. NULL: not known, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.package_name IS 'The simulation package. NULL: not known, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.package_version IS 'Version of the package. NULL: not known, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.last_read_at IS 'When the last stored read of its content started. NULL: never read, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.read_age_seconds IS 'Age of that read when the snapshot was taken. NULL: never read, or removed.';
--> statement-breakpoint
COMMENT ON VIEW simcat_report.daily_owners IS 'Sums of daily_libraries by owner and day, stored with each snapshot. An owner whose libraries were all removed keeps a row with zeros.';
COMMENT ON COLUMN simcat_report.daily_owners.day IS 'The day in UTC, by the database''s clock.';
COMMENT ON COLUMN simcat_report.daily_owners.owner IS 'The uploading user.';
COMMENT ON COLUMN simcat_report.daily_owners.libraries IS 'Number of live libraries.';
COMMENT ON COLUMN simcat_report.daily_owners.scenarios IS 'Number of live scenarios, results included.';
COMMENT ON COLUMN simcat_report.daily_owners.parents IS 'Number of those that are not results.';
COMMENT ON COLUMN simcat_report.daily_owners.results IS 'Number of those that are results.';
COMMENT ON COLUMN simcat_report.daily_owners.bytes IS 'Sum of the known sizes of the live libraries.';
COMMENT ON COLUMN simcat_report.daily_owners.sizes_unread IS 'Number of live libraries whose size is not known, which bytes omits.';
COMMENT ON COLUMN simcat_report.daily_owners.oldest_read_at IS 'When the stored read started that was the oldest of its live libraries. NULL: no library is live, or none was ever read.';
COMMENT ON COLUMN simcat_report.daily_owners.oldest_read_age_seconds IS 'Age of that read when the snapshot was taken. NULL: no library is live, or none was ever read.';
