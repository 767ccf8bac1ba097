-- What did the owners have who have no library any more, when it was last there?
-- One row for each library, in the last snapshot that found it. Snapshots are never pruned.
SELECT DISTINCT ON (d.owner, d.library_name) d.owner, d.library_name, d.day AS last_day, d.scenarios, d.results, d.bytes,
  d.package_name, d.package_version
FROM simcat_report.daily_libraries AS d
WHERE d.live AND NOT EXISTS (SELECT FROM simcat_report.library_freshness AS f WHERE f.owner = d.owner)
ORDER BY d.owner, d.library_name, d.day DESC;
