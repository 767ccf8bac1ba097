-- Which libraries fail or must be read again, for how many reads, and how old is their last complete copy?
SELECT owner, library_name, failures, owes, last_error, open_rejects, last_success_at,
  floor(extract(epoch FROM now() - last_success_at) / 3600)::bigint AS good_copy_hours_old
FROM simcat_report.library_freshness
WHERE failures > 0 OR owes IS NOT NULL
ORDER BY last_success_at NULLS FIRST, owner, library_name;
