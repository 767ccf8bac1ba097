-- What looks wrong in the data, how often, and where, for example?
SELECT problem, what, count(*) AS times, min(owner) AS for_example_owner,
  (array_agg(library_name ORDER BY owner, library_name))[1] AS for_example_library
FROM simcat_report.data_quality
GROUP BY problem, what
ORDER BY times DESC, problem, what;
