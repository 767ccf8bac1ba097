CREATE OR REPLACE VIEW simcat_report.data_complete_as_of AS
SELECT c.complete_as_of, now() - c.complete_as_of AS age,
  whole.run_id AS last_whole_run_id, whole.started_at AS last_whole_run_started_at, whole.status AS last_whole_run_status,
  f.libraries_behind, f.furthest[2] AS furthest_behind_owner, f.furthest[3] AS furthest_behind_library,
  CASE WHEN f.libraries = f.read AND whole.run_id IS NOT NULL AND f.read > 0 THEN least(whole.as_of, f.oldest_read) END AS every_library_read_since,
  (
    SELECT count(*) FROM simcat.rejects x
    -- If a text in another field cannot be stored, the key is known.
    WHERE x.kind = 'listing' AND (x.code = 'unaddressable' OR x.code = 'bad_text' AND x.owner IS NULL) AND x.resolved_at IS NULL
  ) AS unaddressable_libraries,
  CASE WHEN began.at IS NOT NULL THEN greatest(began.at, (SELECT max(p.cutoff) FROM simcat.prunes p)) END AS history_complete_since,
  extract(epoch FROM now() - c.complete_as_of)::double precision AS age_seconds, f.libraries_settling,
  CASE WHEN began.at IS NOT NULL THEN greatest(began.at, (SELECT max(p.cutoff) FROM simcat.prunes p WHERE p.events)) END AS events_complete_since,
  whole.as_of AS seen_as_of
FROM (SELECT (SELECT r.finished_at FROM simcat_report.run_history r WHERE r.saw_everything ORDER BY r.run_id LIMIT 1) AS at) AS began
LEFT JOIN (
  SELECT h.run_id, h.started_at, h.status, h.seen_as_of AS as_of FROM simcat_report.run_history h WHERE h.saw_everything ORDER BY h.run_id DESC LIMIT 1
) AS whole ON true
CROSS JOIN LATERAL (
  SELECT count(*) AS libraries, count(v.complete_as_of) AS known, min(v.complete_as_of) AS lowest,
    count(v.last_whole_read_at) AS read, min(v.last_whole_read_at) AS oldest_read,
    count(*) FILTER (WHERE o.is_older AND NOT o.is_settling) AS libraries_behind,
    count(*) FILTER (WHERE o.is_older AND o.is_settling) AS libraries_settling,
    min(ARRAY[coalesce(to_char(v.complete_as_of AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), ''), v.owner, v.library_name])
      FILTER (WHERE o.is_older AND NOT o.is_settling) AS furthest
  -- OFFSET 0: each column is computed once.
  FROM (SELECT * FROM simcat_report.library_freshness OFFSET 0) AS v
  CROSS JOIN LATERAL (
    SELECT v.complete_as_of IS NULL OR v.complete_as_of < whole.as_of OR v.removal_held_at IS NOT NULL AS is_older,
      coalesce(v.removal_held_at IS NULL AND v.owes IS NULL AND v.failures = 0 AND v.last_whole_read_at = v.last_read_at AND v.last_read_at <= v.settles_at, false)
        AS is_settling
  ) AS o
) AS f
CROSS JOIN LATERAL (
  -- Before a run saw everything, the set of libraries is not known.
  SELECT CASE WHEN f.libraries = f.known AND whole.run_id IS NOT NULL THEN least(whole.as_of, f.lowest) END AS complete_as_of
) AS c
-- Computed once, not for each row of a query that joins it, such as the events since events_complete_since.
OFFSET 0;

COMMENT ON VIEW simcat_report.data_complete_as_of IS 'Always one row: the time up to which this copy has everything. It relies on the service dating its edits; every_library_read_since does not.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.complete_as_of IS 'Everything that the service had up to this time, and dated, is stored, except unaddressable_libraries. It is the start of the last run that saw everything, or the time at which a cache had stored its listing. It is earlier if a library is complete only as of an earlier time: it failed, must be read again, has a date that proves nothing yet, or is missing from the listing while its removal is held. NULL: no run has seen everything yet, or a library was never stored completely and no run has ended with ok.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.age IS 'now() - complete_as_of. NULL: complete_as_of is NULL.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_id IS 'The last run that saw everything (run_history.saw_everything). NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_started_at IS 'When that run started: all libraries except libraries_behind and libraries_settling are complete as of then, or as of the time at which a cache had stored its listing. NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.last_whole_run_status IS 'Status of that run. NULL: none yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.libraries_behind IS 'Number of libraries that are complete only as of an earlier time, because something is wrong or missing: a failed or partial read, a reason to read again, a date that cannot prove anything, or a removal that is held. Libraries whose date only has to settle are in libraries_settling.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.furthest_behind_owner IS 'Owner of the library among libraries_behind that is complete as of the earliest time. NULL: no library is behind.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.furthest_behind_library IS 'Name of that library. NULL: no library is behind.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.every_library_read_since IS 'Every library was read completely at this time or later, so even edits without a date are stored up to it. Never later than last_whole_run_started_at. NULL: no run has seen everything yet, a library was never read completely, or there are no libraries.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.unaddressable_libraries IS 'Number of listed libraries that cannot be copied, because no request can name them or their key is too long: . or .. or an empty part, a NUL, half of a surrogate pair, more than 2,600 bytes.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.history_complete_since IS 'Versions, changes and removals are complete from this time on, and libraries_as_of() and scenarios_as_of() show the organization as it was: the end of the first run that saw everything, or the latest cutoff of simcat prune if that is later. NULL: no run has seen everything yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.age_seconds IS 'age in seconds. NULL: complete_as_of is NULL.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.libraries_settling IS 'Number of libraries that were read completely and without problems, and whose date has to settle before it can prove that nothing changed since that read. complete_as_of waits for them too.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.events_complete_since IS 'The events (view events) are complete from this time on: the first run that saw everything had ended, and no prune with --events deleted later ones. NULL: no run has seen everything yet.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.seen_as_of IS 'The time as of which the last run that saw everything saw it: when it started, or earlier if a cache had stored its listing. NULL: no such run yet.';
