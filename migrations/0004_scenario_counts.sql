-- An earlier version would not keep the counts: a run of one that is at work loses its lease here, and writes nothing more.
UPDATE simcat.leases SET token = token + 1, expires_at = clock_timestamp();
--> statement-breakpoint
-- Counted before library_sync is locked, so that nobody who reads it waits for a large table.
CREATE TABLE simcat.counted_scenarios AS
SELECT owner, library_name, count(*) AS scenarios,
  count(*) FILTER (WHERE coalesce(is_result, nullif(parent_id, 0) IS NOT NULL)) AS results
FROM simcat.scenarios WHERE removed_at IS NULL GROUP BY owner, library_name;
--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "scenario_count" bigint;--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "result_count" bigint;
--> statement-breakpoint
UPDATE simcat.library_sync y SET scenario_count = coalesce(n.scenarios, 0), result_count = coalesce(n.results, 0)
FROM simcat.libraries l LEFT JOIN simcat.counted_scenarios n USING (owner, library_name)
WHERE (y.owner, y.library_name) = (l.owner, l.library_name);
--> statement-breakpoint
DROP TABLE simcat.counted_scenarios;
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.scenario_count IS 'How many of its scenarios are not marked as removed, results included. Kept by the transaction that stores its content, so that nothing has to count scenarios. A removed library keeps its number. NULL: nothing was stored so far.';
COMMENT ON COLUMN simcat.library_sync.result_count IS 'How many of those are results: the flag says so, or it is not sent and there is a parent. NULL: nothing was stored so far.';
