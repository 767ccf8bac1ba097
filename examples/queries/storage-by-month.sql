-- How much did each owner store at the end of each month, and how much will it be in 90 days?
-- The forecast continues a straight line through the last 90 days, from the time on at which all initial content was read, as far as
-- events tell. There is none for an owner with fewer than 30 days of snapshots since then, or without libraries now.
WITH today AS (
  SELECT (now() AT TIME ZONE 'UTC')::date AS today
), month_ends AS (
  SELECT DISTINCT ON (owner, to_char(day, 'YYYY-MM')) owner, day, bytes
  FROM simcat_report.daily_owners
  ORDER BY owner, to_char(day, 'YYYY-MM'), day DESC
), loaded AS (
  SELECT owner, max(run_id) AS run_id FROM simcat_report.events
  WHERE kind = 'loaded' AND scenario_id IS NULL AND byte_change <> 0
  GROUP BY owner
), lines AS (
  SELECT owner, regr_slope(bytes, day - today) AS bytes_per_day, regr_intercept(bytes, day - today) AS bytes_today
  FROM simcat_report.daily_owners AS d LEFT JOIN loaded AS l USING (owner), today
  WHERE day > today - 90 AND (d.run_id >= l.run_id) IS NOT FALSE
    AND taken_at >= coalesce((SELECT max(cutoff) FROM simcat_report.prune_history WHERE events), '-infinity')
  GROUP BY owner
  HAVING count(*) >= 30 AND (array_agg(libraries ORDER BY day DESC))[1] > 0
)
SELECT owner, day, bytes, pg_size_pretty(bytes) AS size, false AS is_forecast
FROM month_ends
UNION ALL
SELECT owner, today + 90, b.bytes, pg_size_pretty(b.bytes), true
FROM lines, today, LATERAL (SELECT greatest(0, bytes_today + 90 * bytes_per_day)::bigint AS bytes) AS b
ORDER BY owner, day;
