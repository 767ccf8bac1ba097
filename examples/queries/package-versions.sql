-- Which package versions are in use, and how many newer versions are there?
SELECT package_name, package_version, libraries, owners, newest_version, versions_behind
FROM simcat_report.package_versions
ORDER BY package_name, versions_behind, package_version;
