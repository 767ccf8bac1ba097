CREATE OR REPLACE VIEW simcat_report.daily_owners AS
SELECT o.day, o.owner, o.libraries, o.scenarios, o.scenarios - o.results AS parents, o.results, o.bytes, o.sizes_unread,
  o.oldest_read_at, extract(epoch FROM d.taken_at - o.oldest_read_at)::double precision AS oldest_read_age_seconds,
  o.not_stored, o.active, o.quiet, o.stale, d.taken_at, d.run_id
FROM simcat.owner_days o JOIN simcat.snapshot_days d ON d.day = o.day;

COMMENT ON VIEW simcat_report.daily_owners IS 'Sums of daily_libraries by owner and day, stored with each snapshot, with the exact age of the oldest data. An owner whose libraries were all removed keeps a row with zeros.';
COMMENT ON COLUMN simcat_report.daily_owners.day IS 'The day in UTC, by the database''s clock.';
COMMENT ON COLUMN simcat_report.daily_owners.owner IS 'The uploading user.';
COMMENT ON COLUMN simcat_report.daily_owners.libraries IS 'Number of live libraries.';
COMMENT ON COLUMN simcat_report.daily_owners.scenarios IS 'Number of live scenarios, results included.';
COMMENT ON COLUMN simcat_report.daily_owners.parents IS 'Number of those that are not results.';
COMMENT ON COLUMN simcat_report.daily_owners.results IS 'Number of those that are results.';
COMMENT ON COLUMN simcat_report.daily_owners.bytes IS 'Sum of the known sizes of the live libraries.';
COMMENT ON COLUMN simcat_report.daily_owners.sizes_unread IS 'Number of live libraries whose size is not known, which bytes omits.';
COMMENT ON COLUMN simcat_report.daily_owners.oldest_read_at IS 'The earliest start of the last stored read of a live library. NULL: no library is live, or none was ever read.';
COMMENT ON COLUMN simcat_report.daily_owners.oldest_read_age_seconds IS 'Age of that read when the snapshot was taken. NULL: no library is live, or none was ever read.';
COMMENT ON COLUMN simcat_report.daily_owners.not_stored IS 'Number of listed libraries of which nothing was stored yet. NULL: an earlier version took the snapshot.';
COMMENT ON COLUMN simcat_report.daily_owners.active IS 'Number of live libraries with work in the 30 days before the snapshot. NULL: an earlier version took it.';
COMMENT ON COLUMN simcat_report.daily_owners.quiet IS 'Number of live libraries whose last work was 30 to 90 days before the snapshot. NULL: an earlier version took it.';
COMMENT ON COLUMN simcat_report.daily_owners.stale IS 'Number of live libraries whose last work was more than 90 days before the snapshot. NULL: an earlier version took it.';
COMMENT ON COLUMN simcat_report.daily_owners.taken_at IS 'When the snapshot of the day was taken.';
COMMENT ON COLUMN simcat_report.daily_owners.run_id IS 'The run that took the snapshot of the day (run_history.run_id).';
