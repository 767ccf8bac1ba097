-- An earlier version would not keep the counts: a run of one that is at work loses its lease here, and writes nothing more.
UPDATE simcat.leases SET token = token + 1, expires_at = clock_timestamp();
--> statement-breakpoint
-- An earlier version cut dates to milliseconds. Their texts have the microseconds. Done before library_sync is locked.
UPDATE simcat.libraries SET last_modified_at = last_modified_at
  + rpad(substring(last_modified FROM ':\d\d[.,]\d{3}(\d{1,3})'), 3, '0')::int * interval '1 microsecond'
WHERE last_modified ~ ':\d\d[.,]\d{4}' AND last_modified_at = date_trunc('milliseconds', last_modified_at);
--> statement-breakpoint
UPDATE simcat.scenarios SET last_modified_at = last_modified_at
  + rpad(substring(last_modified FROM ':\d\d[.,]\d{3}(\d{1,3})'), 3, '0')::int * interval '1 microsecond'
WHERE last_modified ~ ':\d\d[.,]\d{4}' AND last_modified_at = date_trunc('milliseconds', last_modified_at);
--> statement-breakpoint
UPDATE simcat.library_history SET last_modified_at = last_modified_at
  + rpad(substring(last_modified FROM ':\d\d[.,]\d{3}(\d{1,3})'), 3, '0')::int * interval '1 microsecond'
WHERE last_modified ~ ':\d\d[.,]\d{4}' AND last_modified_at = date_trunc('milliseconds', last_modified_at);
--> statement-breakpoint
UPDATE simcat.scenario_history SET last_modified_at = last_modified_at
  + rpad(substring(last_modified FROM ':\d\d[.,]\d{3}(\d{1,3})'), 3, '0')::int * interval '1 microsecond'
WHERE last_modified ~ ':\d\d[.,]\d{4}' AND last_modified_at = date_trunc('milliseconds', last_modified_at);
--> statement-breakpoint
-- Counted before library_sync is locked, so that its readers do not wait for a large table.
CREATE TABLE simcat.counted_scenarios AS
SELECT owner, library_name, count(*) AS scenarios,
  count(*) FILTER (WHERE coalesce(is_result, nullif(parent_id, 0) IS NOT NULL)) AS results
FROM simcat.scenarios WHERE removed_at IS NULL GROUP BY owner, library_name;
--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "removal_held_at" timestamp (6) with time zone;
--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "scenario_count" bigint;
--> statement-breakpoint
ALTER TABLE "simcat"."library_sync" ADD COLUMN "result_count" bigint;
--> statement-breakpoint
ALTER TABLE "simcat"."sync_runs" ADD COLUMN "restart" boolean DEFAULT false NOT NULL;
--> statement-breakpoint
CREATE INDEX "sync_runs_restart_index" ON "simcat"."sync_runs" USING btree ("backfill_since") WHERE restart;
--> statement-breakpoint
UPDATE simcat.library_sync y SET scenario_count = coalesce(n.scenarios, 0), result_count = coalesce(n.results, 0)
FROM simcat.libraries l LEFT JOIN simcat.counted_scenarios n USING (owner, library_name)
WHERE (y.owner, y.library_name) = (l.owner, l.library_name);
--> statement-breakpoint
DROP TABLE simcat.counted_scenarios;
--> statement-breakpoint
COMMENT ON COLUMN simcat.library_sync.removal_held_at IS 'The library was not listed, and a guard held its removal: since when removals are held without a break. NULL: it is listed, its removal was not held, or it is marked as removed.';
COMMENT ON COLUMN simcat.sync_runs.restart IS 'Whether the backfill began with --restart. Until a library is read after such a run''s backfill_since, every read of it compares row by row, whatever content_hash is.';
COMMENT ON COLUMN simcat.library_sync.scenario_count IS 'How many of its scenarios are not marked as removed, results included. Kept by the transaction that stores its content, so that nothing has to count scenarios. A removed library keeps its number. NULL: nothing was stored so far.';
COMMENT ON COLUMN simcat.library_sync.result_count IS 'How many of those are results: the flag says so, or it is not sent and there is a parent. NULL: nothing was stored so far.';
