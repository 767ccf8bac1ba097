-- Hours, because a day of a session's time zone may have 23 or 25.
CREATE OR REPLACE FUNCTION simcat_report.work_state(last_work_at timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
  WHEN last_work_at IS NULL OR last_work_at > now() + interval '24 hours' THEN 'unknown'
  WHEN last_work_at >= now() - interval '720 hours' THEN 'active'
  WHEN last_work_at >= now() - interval '2160 hours' THEN 'quiet'
  ELSE 'stale'
END;

COMMENT ON FUNCTION simcat_report.work_state(timestamp with time zone) IS 'The one definition of active and stale, by the time of the last work: active (within 30 days), quiet (within 90 days), stale (longer ago), unknown (NULL, or more than a day in the future).';
