CREATE OR REPLACE VIEW simcat_report.library_freshness AS
SELECT y.owner, y.library_name, l.owner IS NOT NULL AS is_stored,
  greatest(y.bookmark_seen_at, listed.as_of) AS last_listed_at,
  y.content_read_at AS last_read_at, w.whole_read_at AS last_whole_read_at, y.last_success_at,
  greatest(l.changed_at, (
    SELECT max(s.changed_at) FROM simcat.scenarios s WHERE s.owner = y.owner AND s.library_name = y.library_name
  )) AS last_changed_at,
  now() - y.content_read_at AS lag,
  coalesce(w.has_settled AND y.listed_text = y.bookmark AND y.reread_reason IS NULL, false) AS settled,
  y.settles_at, y.reread_reason AS owes, y.failures, y.last_error, y.last_failed_at,
  (SELECT count(*) FROM simcat.rejects x WHERE x.owner = y.owner AND x.library_name = y.library_name AND x.resolved_at IS NULL)
    AS open_rejects,
  CASE
    -- A library that a run with status ok did not list did not exist then; nor did one that was first listed after the last whole run.
    WHEN y.last_success_at IS NULL AND y.content_read_at IS NULL AND y.bookmark_seen_at > listed.finished_at AND (y.failures = 0 OR w.first_failed_since)
      THEN listed.as_of
    WHEN y.last_success_at IS NULL THEN clean.as_of
    -- The text that the whole run listed proves it, unless a read failed then or before.
    WHEN w.has_settled AND w.is_whole
      AND (y.reread_reason IS NULL OR y.reread_reason = 'failure' AND w.first_failed_since)
      THEN greatest(w.whole_read_at, listed.as_of)
    ELSE w.whole_read_at
  END AS complete_as_of,
  extract(epoch FROM now() - y.content_read_at)::double precision AS lag_seconds,
  y.removal_held_at
FROM simcat.library_sync y
LEFT JOIN simcat.libraries l ON l.owner = y.owner AND l.library_name = y.library_name
LEFT JOIN (
  SELECT h.seen_as_of AS as_of, h.finished_at, h.libraries_failed
  FROM simcat_report.run_history h WHERE h.saw_everything ORDER BY h.run_id DESC LIMIT 1
) AS whole ON y.removal_held_at IS NULL
LEFT JOIN (
  SELECT h.seen_as_of AS as_of FROM simcat_report.run_history h
  WHERE h.saw_everything AND h.status = 'ok' ORDER BY h.run_id DESC LIMIT 1
) AS clean ON true
LEFT JOIN LATERAL (
  -- No run has listed a library whose removal is held since then.
  SELECT h.seen_as_of AS as_of, h.finished_at, h.libraries_failed
  FROM simcat_report.run_history h
  WHERE y.removal_held_at IS NOT NULL AND h.saw_everything AND h.finished_at < y.removal_held_at ORDER BY h.run_id DESC LIMIT 1
) AS earlier ON true
CROSS JOIN LATERAL (
  SELECT coalesce(whole.as_of, earlier.as_of) AS as_of, coalesce(whole.finished_at, earlier.finished_at) AS finished_at,
    coalesce(whole.libraries_failed, earlier.libraries_failed) AS libraries_failed
) AS listed
CROSS JOIN LATERAL (SELECT sha256(convert_to(y.owner || E'\x1f' || y.library_name, 'UTF8')) AS digest) AS key
CROSS JOIN LATERAL (
  SELECT
    coalesce(y.bookmark <> '' AND y.content_read_at > y.settles_at AND y.suspect_reads = 0, false) AS has_settled,
    coalesce(y.content_read_at <= y.last_success_at, false) AS is_whole,
    -- The only failure counted is later than the whole run. An outage counts no second one, so no library may have failed in that run.
    y.failures = 1 AND y.last_failed_at > listed.finished_at AND listed.libraries_failed = 0 AS first_failed_since,
    CASE WHEN y.last_success_at IS NULL THEN y.last_success_at
      -- A cache may have answered the last whole read, or a partial one since. -infinity: it does not say as of when.
      ELSE nullif(least(y.content_as_of, CASE WHEN y.content_read_at <= y.last_success_at THEN y.content_read_at
        -- A partial read was stored since: the last whole read began no earlier than the run that stored it.
        ELSE coalesce((
          SELECT r.started_at FROM simcat.sync_runs r WHERE r.started_at <= y.last_success_at
            -- Slices run side by side: a library is read by the run of its own.
            AND (r.scope->>'slice' IS NULL
              OR (get_byte(key.digest, 0) * 256 + get_byte(key.digest, 1)) % split_part(r.scope->>'slice', '/', 2)::int + 1
                = split_part(r.scope->>'slice', '/', 1)::int)
          ORDER BY r.id DESC LIMIT 1
        ), y.last_success_at)
      END), '-infinity')
    END AS whole_read_at
) AS w
WHERE l.removed_at IS NULL;

COMMENT ON VIEW simcat_report.library_freshness IS 'The freshness of the copy of each listed library, with the reasons for its age. Removed libraries have no row; libraries that were never stored have one.';
COMMENT ON COLUMN simcat_report.library_freshness.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.library_freshness.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.library_freshness.is_stored IS 'Whether the library was ever stored.';
COMMENT ON COLUMN simcat_report.library_freshness.last_listed_at IS 'The library was still listed at this time or later. It is the start of the last complete run with a complete listing, the time at which a cache had stored that listing, or the time at which its listed date was first seen. If its removal is held, it is a time before the hold. NULL: not known.';
COMMENT ON COLUMN simcat_report.library_freshness.last_read_at IS 'When the last read that was stored, completely or in part, began. NULL: nothing stored yet.';
COMMENT ON COLUMN simcat_report.library_freshness.last_whole_read_at IS 'The stored content is no older than this: when the last read that was stored completely began, when its run started if a partial read followed, or when a cache had stored the answer. NULL: never stored completely, or a cache does not say when it stored the answer.';
COMMENT ON COLUMN simcat_report.library_freshness.last_success_at IS 'When the content was last stored completely, or found unchanged. NULL: never.';
COMMENT ON COLUMN simcat_report.library_freshness.last_changed_at IS 'When simcat last stored a change of the library or of one of its scenarios. NULL: never stored.';
COMMENT ON COLUMN simcat_report.library_freshness.lag IS 'now() - last_read_at. A long time is normal for a library whose date does not change. NULL: nothing stored yet.';
COMMENT ON COLUMN simcat_report.library_freshness.settled IS 'Whether an unchanged date proves that the content is unchanged: it was read after the last moment at which an edit can have the same date, and there is no reason to read it again.';
COMMENT ON COLUMN simcat_report.library_freshness.settles_at IS 'The last moment at which an edit can have the stored date: a read that begins later settles the library. NULL: not known.';
COMMENT ON COLUMN simcat_report.library_freshness.owes IS 'Why the library must be read again whatever its date is: rejects, failure, shrunk or restored. NULL: no reason.';
COMMENT ON COLUMN simcat_report.library_freshness.failures IS 'Number of consecutive failed reads; 0 after a success.';
COMMENT ON COLUMN simcat_report.library_freshness.last_error IS 'The last failure. NULL: no failure since the last stored read.';
COMMENT ON COLUMN simcat_report.library_freshness.last_failed_at IS 'When a read last failed; kept after a success. NULL: never.';
COMMENT ON COLUMN simcat_report.library_freshness.open_rejects IS 'Number of open rejects: items of the library that could not be stored and have not been received in a valid form since.';
COMMENT ON COLUMN simcat_report.library_freshness.complete_as_of IS 'Everything that the service had of this library up to this time, and dated, is stored. If its removal is held, it is the last run that listed the library, or the last read if that is later. If a cache answered the last read, it is at most the time at which the cache had stored it. NULL: not known.';
COMMENT ON COLUMN simcat_report.library_freshness.lag_seconds IS 'lag in seconds, for clients that cannot read intervals. NULL: nothing stored yet.';
COMMENT ON COLUMN simcat_report.library_freshness.removal_held_at IS 'The library is missing from the listing, and a guard has held its removal since this time. NULL: not held.';
