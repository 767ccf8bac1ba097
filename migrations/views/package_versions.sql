CREATE OR REPLACE VIEW simcat_report.package_versions AS
SELECT v.package_name, v.package_version, v.libraries, v.owners,
  first_value(CASE WHEN v.place IS NOT NULL AND v.package_name IS NOT NULL THEN v.package_version END) OVER newest AS newest_version,
  CASE WHEN v.place IS NOT NULL AND v.package_name IS NOT NULL THEN dense_rank() OVER same - 1 END AS versions_behind,
  CASE WHEN v.place IS NOT NULL AND v.package_name IS NOT NULL THEN dense_rank() OVER same = 1 END AS is_newest
FROM (
  SELECT l.package_name, l.package_version, count(*) AS libraries, count(DISTINCT l.owner) AS owners,
    simcat_report.version_order(l.package_version) AS place
  FROM simcat.libraries l WHERE l.removed_at IS NULL
  GROUP BY l.package_name, l.package_version
) AS v
WINDOW same AS (PARTITION BY v.package_name ORDER BY v.place DESC NULLS LAST),
  newest AS (PARTITION BY v.package_name ORDER BY v.place DESC NULLS LAST, v.package_version COLLATE "C" DESC);

COMMENT ON VIEW simcat_report.package_versions IS 'The package versions that live libraries use, and how many newer versions of each package are in use. Versions are compared part by part: 10.0.0 is newer than 9.9.9, 2.1 and 2.1.0 are the same.';
COMMENT ON COLUMN simcat_report.package_versions.package_name IS 'The simulation package. NULL: libraries whose package is not known.';
COMMENT ON COLUMN simcat_report.package_versions.package_version IS 'Version of the package, as sent. NULL: libraries whose version is not known.';
COMMENT ON COLUMN simcat_report.package_versions.libraries IS 'Number of live libraries that use this version.';
COMMENT ON COLUMN simcat_report.package_versions.owners IS 'Number of owners of those libraries.';
COMMENT ON COLUMN simcat_report.package_versions.newest_version IS 'The newest version of this package that a live library uses. NULL: the package or all its versions are not known.';
COMMENT ON COLUMN simcat_report.package_versions.versions_behind IS 'Number of newer versions of this package that are in use. NULL: the package or the version is not known.';
COMMENT ON COLUMN simcat_report.package_versions.is_newest IS 'Whether no newer version is in use. NULL: the package or the version is not known.';
