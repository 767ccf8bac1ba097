CREATE OR REPLACE VIEW simcat_report.daily_libraries AS
SELECT d.day, l.owner, l.library_name, l.live, l.scenarios, l.scenarios - l.results AS parents, l.results, l.bytes,
  l.package_name, l.package_version, l.last_read_at,
  date_part('epoch', d.taken_at - l.last_read_at) AS read_age_seconds,
  l.is_stored, l.last_work_at,
  -- The state that this time had when the snapshot was taken. In seconds, because the days of a difference are those of the session's zone.
  CASE WHEN l.live THEN simcat_report.work_state(l.last_work_at + make_interval(secs => date_part('epoch', now() - d.taken_at))) END AS work_state,
  d.taken_at, d.run_id
FROM simcat.library_days l
-- Both bounds without OR, so that the days of a row are found by the key.
JOIN simcat.snapshot_days d ON d.day >= l.from_day AND d.day < coalesce(l.to_day, 'infinity');

COMMENT ON VIEW simcat_report.daily_libraries IS 'Each library on each day (UTC), as the first good run to end on that day left it. A removed library keeps a row with live = false. Days without a good run over the whole organization have no rows. simcat prune deletes nothing here. Filter by day, owner or library.';
COMMENT ON COLUMN simcat_report.daily_libraries.day IS 'The day in UTC, by the database''s clock.';
COMMENT ON COLUMN simcat_report.daily_libraries.owner IS 'The uploading user, the first part of the library''s key, byte for byte.';
COMMENT ON COLUMN simcat_report.daily_libraries.library_name IS 'Name of the library, the second part of its key, byte for byte.';
COMMENT ON COLUMN simcat_report.daily_libraries.live IS 'Whether the library was live. false: it was removed since an earlier day, or nothing of it was stored yet (is_stored), and all values are NULL.';
COMMENT ON COLUMN simcat_report.daily_libraries.scenarios IS 'Number of its live scenarios, results included. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat_report.daily_libraries.parents IS 'Number of those that are not results. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat_report.daily_libraries.results IS 'Number of those that are results. NULL: removed, or never stored completely.';
COMMENT ON COLUMN simcat_report.daily_libraries.bytes IS 'Its size, as libraries.file_size_bytes. NULL: not known, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.package_name IS 'The simulation package. NULL: not known, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.package_version IS 'Version of the package. NULL: not known, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.last_read_at IS 'When the last stored read of its content had started, as of the first day on which the library was as on this day: a later read that found nothing else does not move it. NULL: never read, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.read_age_seconds IS 'Time from last_read_at to the snapshot: the age of the data was at most this. daily_owners.oldest_read_age_seconds is exact. NULL: never read, or removed.';
COMMENT ON COLUMN simcat_report.daily_libraries.is_stored IS 'Whether any content of the library was stored. false: it was listed, and could not be read yet.';
COMMENT ON COLUMN simcat_report.daily_libraries.last_work_at IS 'The latest date of the library and its scenarios on that day, as libraries.last_work_at. NULL: no known date, not live, or an earlier version took the snapshot.';
COMMENT ON COLUMN simcat_report.daily_libraries.work_state IS 'active, quiet, stale or unknown on that day, as libraries.work_state. unknown: no known date, or an earlier version took the snapshot. NULL: not live.';
COMMENT ON COLUMN simcat_report.daily_libraries.taken_at IS 'When the snapshot of the day was taken.';
COMMENT ON COLUMN simcat_report.daily_libraries.run_id IS 'The run that took the snapshot of the day (run_history.run_id).';
