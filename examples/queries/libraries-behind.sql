-- Which libraries should move to a newer package version, the most outdated first?
SELECT v.versions_behind, l.owner, l.library_name, l.package_name, l.package_version, v.newest_version
FROM simcat_report.libraries l
JOIN simcat_report.package_versions v
  ON v.package_name = l.package_name AND v.package_version = l.package_version
WHERE v.versions_behind > 0
ORDER BY v.versions_behind DESC, l.owner, l.library_name;
