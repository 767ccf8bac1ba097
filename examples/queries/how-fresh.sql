-- How fresh is this copy, and what holds it back?
SELECT complete_as_of, floor(extract(epoch FROM age) / 60)::bigint AS minutes_old, last_whole_run_started_at,
  last_whole_run_status, libraries_behind, furthest_behind_owner, furthest_behind_library
FROM simcat_report.data_complete_as_of;
