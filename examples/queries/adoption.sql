-- How was each package version adopted over the last twelve weeks?
-- The live libraries of each Monday's snapshot. percent is the share among the libraries of the package on that day.
SELECT package_name, package_version, day, count(*) AS libraries,
  round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY package_name, day)) AS percent
FROM simcat_report.daily_libraries
WHERE live AND package_name IS NOT NULL AND extract(isodow FROM day) = 1 AND day > (now() AT TIME ZONE 'UTC')::date - 84
GROUP BY package_name, package_version, day
ORDER BY package_name, simcat_report.version_order(package_version) DESC, day;
