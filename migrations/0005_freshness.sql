-- A key that is too long, empty or ill-formed is stored without its owner; it no longer hides what is known of all other libraries.
CREATE OR REPLACE VIEW simcat_report.run_history AS
SELECT r.id AS run_id, r.kind, r.trigger, r.status, r.started_at, r.finished_at, r.finished_at - r.started_at AS duration,
  r.scope IS NULL AS is_whole,
  CASE
    WHEN r.scope IS NOT NULL OR r.finished_at IS NULL THEN false
    WHEN r.status = 'ok' THEN true
    WHEN r.status = 'partial' OR r.status = 'held' AND r.libraries_read + r.libraries_skipped + r.libraries_failed > 0
      -- An entry that names no library may stand for any of them. One whose key is unaddressable names one that no copy can hold.
      THEN NOT EXISTS (
        SELECT FROM simcat.rejects x
        WHERE x.kind = 'listing' AND x.owner IS NULL AND x.code NOT IN ('unaddressable', 'bad_text') AND x.first_seen_at <= r.finished_at
          AND (x.resolved_at IS NULL OR x.resolved_at > r.finished_at)
      )
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
  r.error, r.scope, r.allow_removals, r.version
FROM simcat.sync_runs r
CROSS JOIN LATERAL (SELECT r.status NOT IN ('running', 'abandoned') AS counted) AS c;
--> statement-breakpoint
CREATE OR REPLACE VIEW simcat_report.data_complete_as_of AS
SELECT c.complete_as_of, now() - c.complete_as_of AS age,
  whole.run_id AS last_whole_run_id, whole.started_at AS last_whole_run_started_at, whole.status AS last_whole_run_status,
  f.libraries_behind,
  behind.owner AS furthest_behind_owner, behind.library_name AS furthest_behind_library,
  CASE WHEN f.libraries = f.read AND whole.run_id IS NOT NULL AND f.read > 0 THEN least(whole.started_at, f.oldest_read) END
    AS every_library_read_since,
  (
    SELECT count(*) FROM simcat.rejects x
    -- Of a text that cannot be stored in another field the key is known.
    WHERE x.kind = 'listing' AND (x.code = 'unaddressable' OR x.code = 'bad_text' AND x.owner IS NULL) AND x.resolved_at IS NULL
  ) AS unaddressable_libraries
FROM (SELECT 1) AS one
LEFT JOIN (
  SELECT run_id, started_at, status FROM simcat_report.run_history WHERE saw_everything ORDER BY run_id DESC LIMIT 1
) AS whole ON true
CROSS JOIN LATERAL (
  SELECT count(*) AS libraries, count(v.complete_as_of) AS known, min(v.complete_as_of) AS lowest,
    count(v.last_whole_read_at) AS read, min(v.last_whole_read_at) AS oldest_read,
    count(*) FILTER (WHERE v.complete_as_of IS NULL OR v.complete_as_of < whole.started_at) AS libraries_behind
  FROM simcat_report.library_freshness v
) AS f
CROSS JOIN LATERAL (
  -- Without a whole run nobody knows which libraries there are.
  SELECT CASE WHEN f.libraries = f.known AND whole.run_id IS NOT NULL THEN least(whole.started_at, f.lowest) END AS complete_as_of
) AS c
LEFT JOIN LATERAL (
  SELECT v.owner, v.library_name FROM simcat_report.library_freshness v
  WHERE v.complete_as_of IS NULL OR v.complete_as_of < whole.started_at
  ORDER BY v.complete_as_of NULLS FIRST, v.owner, v.library_name LIMIT 1
) AS behind ON true;
--> statement-breakpoint
COMMENT ON COLUMN simcat_report.run_history.saw_everything IS 'Whether it came to its end over a complete listing of the whole organization: every library listed was looked at, though some may have failed. Unaddressable entries do not count against it; an entry that names no library does.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.complete_as_of IS 'Everything that the service had up to this moment, and dated, is stored, except unaddressable_libraries: the start of the last run that saw everything, lowered to complete_as_of of the libraries that failed, owe a read, or cannot be proven by their date yet. NULL: no run saw everything yet, or a library was never stored whole and no run was without fault.';
COMMENT ON COLUMN simcat_report.data_complete_as_of.unaddressable_libraries IS 'Listed libraries that no copy can hold, because no request can name them or their key is too long: ., .., an empty part, a NUL or half of a surrogate pair, over 2,600 bytes. complete_as_of is about all others.';
COMMENT ON COLUMN simcat.library_sync.doubtful_reads IS 'How many reads in a row under one text a cache may have answered, or whose metadata named another moment than the listing, or another library. Above 0 the bookmark does not settle.';
