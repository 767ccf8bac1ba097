-- Which libraries have not been changed for 90 days?
-- Libraries without a known date are omitted; data_quality lists them.
SELECT owner, library_name, package_name, package_version, last_modified_at, days_since_modified
FROM simcat_report.stale_libraries
WHERE days_since_modified >= 90
ORDER BY days_since_modified DESC, owner, library_name;
