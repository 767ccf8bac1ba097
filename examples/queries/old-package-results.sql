-- Which results were made with an older package version than their library has now?
-- made_with is the version that the library had when simcat first stored the result; results of the first backfill may be older still.
-- Versions that simcat prune deleted are not known. Each version is put in its order once, because that is slow.
WITH results AS MATERIALIZED (
  SELECT owner, library_name, first_seen_at, count(*) AS results
  FROM simcat_report.scenarios
  WHERE counts_as_result
  GROUP BY owner, library_name, first_seen_at
), versions AS MATERIALIZED (
  SELECT package_version, simcat_report.version_order(package_version) AS place
  FROM (SELECT DISTINCT package_version FROM simcat_report.library_versions) AS v
)
SELECT owner, library_name, l.package_name, had.package_version AS made_with, has.package_version AS now_at, sum(r.results)::bigint AS results
FROM simcat_report.libraries AS l
JOIN simcat_report.library_versions AS v USING (owner, library_name, package_name)
JOIN results AS r USING (owner, library_name)
JOIN versions AS had ON had.package_version = v.package_version
JOIN versions AS has ON has.package_version = l.package_version
WHERE had.place < has.place AND r.first_seen_at >= v.valid_from AND r.first_seen_at < v.valid_to
GROUP BY owner, library_name, l.package_name, had.package_version, has.package_version, had.place
ORDER BY results DESC, owner, library_name, had.place;
