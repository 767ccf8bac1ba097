-- How much storage was freed in each of the last twelve months?
-- Libraries that were removed, and those that shrank. Those that moved to another owner, or whose size became unknown, freed nothing.
-- Months are in UTC, and those of the run that found it. A month that ended before the events begin, or in which no run saw everything,
-- has no numbers; the month in which they begin counts from then on, as `since` says.
WITH months AS MATERIALIZED (
  SELECT month, month + interval '1 month' AS next_month,
    CASE WHEN (month + interval '1 month') AT TIME ZONE 'UTC' > c.events_complete_since AND EXISTS (
      SELECT FROM simcat_report.run_history AS r WHERE r.saw_everything
        AND r.finished_at >= month AT TIME ZONE 'UTC' AND r.started_at < (month + interval '1 month') AT TIME ZONE 'UTC'
    ) THEN greatest(month AT TIME ZONE 'UTC', c.events_complete_since) END AS since
  FROM simcat_report.data_complete_as_of AS c, generate_series(0, 11) AS months_ago,
    LATERAL (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') - months_ago * interval '1 month' AS month) AS first_day
), sizes AS (
  -- An unknown size counts as 0, as does that of a removed library. Only for the newest change is it known which of both a 0 is.
  -- Counted back from now, because earlier events may be pruned.
  SELECT seen_at, kind, byte_change, is_move,
    coalesce(l.file_size_bytes, 0) + byte_change - sum(byte_change) OVER (PARTITION BY owner, library_name ORDER BY seen_at DESC) AS size_after,
    l.file_size_bytes = 0 AND seen_at = max(seen_at) FILTER (WHERE byte_change <> 0) OVER (PARTITION BY owner, library_name) AS is_zero_now
  FROM simcat_report.events LEFT JOIN simcat_report.libraries AS l USING (owner, library_name) WHERE entity = 'library'
)
SELECT m.month::date AS month, m.since,
  CASE WHEN m.since IS NOT NULL THEN -coalesce(sum(e.byte_change) FILTER (WHERE e.kind = 'removed'), 0) END AS bytes_removed,
  CASE WHEN m.since IS NOT NULL THEN -coalesce(sum(e.byte_change) FILTER (WHERE e.kind = 'changed'), 0) END AS bytes_shrunk
FROM months AS m
LEFT JOIN sizes AS e
  ON e.seen_at >= m.since AND e.seen_at < m.next_month AT TIME ZONE 'UTC' AND e.byte_change < 0 AND NOT e.is_move
    AND (e.kind = 'removed' OR e.size_after <> 0 OR e.is_zero_now)
GROUP BY m.month, m.since
ORDER BY m.month DESC;
