-- How did the organization grow over the last eight weeks?
-- Each line has the last snapshot of a week that ends today, and its day. A week without a snapshot has no line.
WITH days AS (
  SELECT weeks_ago, max(d.day) AS day
  FROM generate_series(8, 0, -1) AS weeks_ago, LATERAL (SELECT (now() AT TIME ZONE 'UTC')::date - 7 * weeks_ago AS last_day) AS week
  JOIN simcat_report.daily_owners AS d ON d.day > last_day - 7 AND d.day <= last_day
  GROUP BY weeks_ago
)
SELECT days.weeks_ago, days.day, sum(o.libraries) AS libraries, sum(o.scenarios) AS scenarios, sum(o.bytes) AS bytes,
  sum(o.not_stored) AS libraries_not_stored
FROM days
JOIN simcat_report.daily_owners AS o USING (day)
GROUP BY days.weeks_ago, days.day
ORDER BY days.weeks_ago DESC;
