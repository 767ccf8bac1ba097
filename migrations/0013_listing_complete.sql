ALTER TABLE "simcat"."sync_runs" ADD COLUMN "listing_complete" boolean;
--> statement-breakpoint
-- As run_history found it until now. Rejects that a prune deleted cannot be considered any more.
UPDATE simcat.sync_runs r SET listing_complete = NOT EXISTS (
  SELECT FROM simcat.rejects x
  WHERE x.kind = 'listing' AND x.owner IS NULL AND x.code NOT IN ('unaddressable', 'bad_text') AND x.first_seen_at <= r.finished_at
    AND (x.resolved_at IS NULL OR x.resolved_at > r.finished_at)
)
WHERE r.finished_at IS NOT NULL AND r.status IN ('ok', 'partial', 'held');
--> statement-breakpoint
CREATE OR REPLACE VIEW simcat_report.run_history AS
SELECT r.id AS run_id, r.kind, r.trigger, r.status, r.started_at, r.finished_at, r.finished_at - r.started_at AS duration,
  r.scope IS NULL AS is_whole,
  CASE
    WHEN r.scope IS NOT NULL OR r.finished_at IS NULL THEN false
    WHEN r.status = 'ok' THEN true
    WHEN r.status = 'partial' OR r.status = 'held' AND r.libraries_read + r.libraries_skipped + r.libraries_failed > 0
      THEN r.listing_complete IS TRUE
    ELSE false
  END AS saw_everything,
  CASE WHEN c.counted THEN r.libraries_listed END AS libraries_listed,
  CASE WHEN c.counted THEN r.libraries_read END AS libraries_read,
  CASE WHEN c.counted THEN r.libraries_skipped END AS libraries_skipped,
  CASE WHEN c.counted THEN r.libraries_changed END AS libraries_changed,
  CASE WHEN c.counted THEN r.libraries_failed END AS libraries_failed,
  CASE WHEN c.counted THEN r.libraries_removed END AS libraries_removed,
  CASE WHEN c.counted THEN r.scenarios_inserted END AS scenarios_added,
  CASE WHEN c.counted THEN r.scenarios_updated END AS scenarios_changed,
  CASE WHEN c.counted THEN r.scenarios_removed END AS scenarios_removed,
  CASE WHEN c.counted THEN r.scenarios_unchanged END AS scenarios_unchanged,
  CASE WHEN c.counted THEN r.rejects END AS rejects,
  CASE WHEN c.counted THEN r.silent_changes END AS silent_changes,
  CASE WHEN c.counted THEN r.requests END AS requests,
  CASE WHEN c.counted THEN r.retries END AS retries,
  CASE WHEN c.counted THEN r.bytes END AS bytes,
  CASE WHEN c.counted THEN
    r.libraries_listed || ' listed, ' || r.libraries_read || ' read, ' || r.libraries_changed || ' changed, '
      || r.libraries_removed || ' removed, ' || r.libraries_failed || ' failed; scenarios +' || r.scenarios_inserted
      || ' ~' || r.scenarios_updated || ' -' || r.scenarios_removed
  END AS summary,
  r.error, r.scope, r.allow_removals, r.version,
  extract(epoch FROM r.finished_at - r.started_at)::double precision AS duration_seconds
FROM simcat.sync_runs r
CROSS JOIN LATERAL (SELECT r.status NOT IN ('running', 'abandoned') AS counted) AS c;
--> statement-breakpoint
COMMENT ON COLUMN simcat.sync_runs.listing_complete IS 'Whether each entry of the listing named its library, and the listing had one page. An entry with a key that no copy can hold does not count. NULL: no listing was read, or the run is not finished.';
