CREATE OR REPLACE VIEW simcat_report.run_history AS
SELECT r.id AS run_id, r.kind, r.trigger, r.status, r.started_at, r.finished_at, r.finished_at - r.started_at AS duration,
  r.scope IS NULL AS is_whole,
  c.saw_everything,
  CASE WHEN c.counted THEN r.libraries_listed END AS libraries_listed,
  CASE WHEN r.status <> 'running' THEN r.libraries_read END AS libraries_read,
  CASE WHEN c.counted THEN r.libraries_skipped END AS libraries_skipped,
  CASE WHEN c.counted THEN r.libraries_changed END AS libraries_changed,
  CASE WHEN r.status <> 'running' THEN r.libraries_failed END AS libraries_failed,
  CASE WHEN c.counted THEN r.libraries_removed END AS libraries_removed,
  CASE WHEN c.counted THEN r.scenarios_inserted END AS scenarios_added,
  CASE WHEN c.counted THEN r.scenarios_updated END AS scenarios_changed,
  CASE WHEN c.counted THEN r.scenarios_removed END AS scenarios_removed,
  CASE WHEN c.counted THEN r.scenarios_unchanged END AS scenarios_unchanged,
  CASE WHEN c.counted THEN r.rejects END AS rejects, CASE WHEN c.counted THEN r.silent_changes END AS silent_changes,
  CASE WHEN c.counted THEN r.requests END AS requests, CASE WHEN c.counted THEN r.retries END AS retries,
  CASE WHEN c.counted THEN r.bytes END AS bytes,
  CASE WHEN c.counted THEN
    r.libraries_listed || ' listed, ' || r.libraries_read || ' read, ' || r.libraries_changed || ' changed, '
      || r.libraries_removed || ' removed, ' || r.libraries_failed || ' failed; scenarios +' || r.scenarios_inserted
      || ' ~' || r.scenarios_updated || ' -' || r.scenarios_removed
  END AS summary,
  r.error, r.scope, r.allow_removals, r.version,
  extract(epoch FROM r.finished_at - r.started_at)::double precision AS duration_seconds,
  (CASE WHEN c.saw_everything THEN least(r.started_at, r.listing_as_of) END)::timestamptz(6) AS seen_as_of
FROM simcat.sync_runs r
CROSS JOIN LATERAL (
  SELECT r.status NOT IN ('running', 'abandoned') AS counted,
    CASE
      WHEN r.scope IS NOT NULL OR r.finished_at IS NULL THEN false
      WHEN r.status = 'ok' THEN r.listing_complete IS NOT FALSE
      WHEN r.status = 'partial' OR r.status = 'held' AND r.libraries_read + r.libraries_skipped + r.libraries_failed > 0
        THEN r.listing_complete IS TRUE
      ELSE false
    END AS saw_everything
) AS c;

COMMENT ON VIEW simcat_report.run_history IS 'Every run of simcat, one row each.';
COMMENT ON COLUMN simcat_report.run_history.run_id IS 'Number of the run; increases with time, with gaps.';
COMMENT ON COLUMN simcat_report.run_history.kind IS 'sync (incremental) or backfill (full).';
COMMENT ON COLUMN simcat_report.run_history.trigger IS 'What started the run: cli (a command) or schedule (the worker).';
COMMENT ON COLUMN simcat_report.run_history.status IS 'running; ok, partial (libraries failed, have rejects or await a second read) or held (a guard withheld removals); source_unavailable, source_untrusted, unauthorized, database_failed, interrupted, abandoned or failed.';
COMMENT ON COLUMN simcat_report.run_history.started_at IS 'When the run began.';
COMMENT ON COLUMN simcat_report.run_history.finished_at IS 'When the run ended, or was found abandoned. NULL: in progress, or dead and not found yet.';
COMMENT ON COLUMN simcat_report.run_history.duration IS 'finished_at - started_at. NULL: not finished.';
COMMENT ON COLUMN simcat_report.run_history.is_whole IS 'Whether the run covered the whole organization and not selected libraries or owners.';
COMMENT ON COLUMN simcat_report.run_history.saw_everything IS 'Whether the run was complete, with a complete listing of the whole organization as of a known time: each listed library was considered, though some may have failed. Unaddressable entries do not count against it; an entry that names no library does.';
COMMENT ON COLUMN simcat_report.run_history.libraries_listed IS 'Number of libraries in the listing. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_read IS 'Number of libraries whose content was read and stored, changed or not. NULL: the run has not ended.';
COMMENT ON COLUMN simcat_report.run_history.libraries_skipped IS 'Number of libraries that were not read, because no read was due. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_changed IS 'Number of read libraries that were new or changed. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.libraries_failed IS 'Number of libraries that could not be read or stored; their stored content is kept. NULL: the run has not ended.';
COMMENT ON COLUMN simcat_report.run_history.libraries_removed IS 'Number of libraries marked as removed. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_added IS 'Number of scenarios stored for the first time. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_changed IS 'Number of scenarios that changed or returned. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_removed IS 'Number of scenarios marked as removed; those of a removed library are not counted. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.scenarios_unchanged IS 'Number of scenarios that were read and were unchanged; those of skipped libraries are not counted. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.rejects IS 'Number of items that could not be stored. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.silent_changes IS 'Number of libraries that changed without a new date. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.requests IS 'Number of requests sent, retries included. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.retries IS 'Number of requests sent again. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.bytes IS 'Bytes of the response bodies, after decompression. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.summary IS 'The counts in one line: scenarios + added, ~ changed, - removed. NULL: the run is in progress or was abandoned, because counts are written at the end.';
COMMENT ON COLUMN simcat_report.run_history.error IS 'Why the run ended as it did, and what to do. NULL: nothing to add to the counts.';
COMMENT ON COLUMN simcat_report.run_history.scope IS 'The selected libraries and owners, or the slice. NULL: the whole organization.';
COMMENT ON COLUMN simcat_report.run_history.allow_removals IS 'Whether --allow-removals let the run pass the removal guards.';
COMMENT ON COLUMN simcat_report.run_history.version IS 'The version of simcat that ran.';
COMMENT ON COLUMN simcat_report.run_history.duration_seconds IS 'duration in seconds, for clients that cannot read intervals. NULL: not finished.';
COMMENT ON COLUMN simcat_report.run_history.seen_as_of IS 'The time as of which it saw everything: when it started, or earlier if a cache had stored its listing. NULL: it did not see everything.';
