CREATE OR REPLACE FUNCTION simcat_report.history_covers(moment timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
SET search_path = pg_catalog
AS $$
DECLARE
  -- As data_complete_as_of.history_complete_since.
  since timestamptz := (
    SELECT greatest(r.finished_at, (SELECT max(p.cutoff) FROM simcat_report.prune_history p))
    FROM simcat_report.run_history r WHERE r.saw_everything ORDER BY r.run_id LIMIT 1);
BEGIN
  -- The present is what the tables hold, even before a run has seen everything.
  IF moment IS NULL OR moment >= now() OR moment >= since THEN
    RETURN true;
  END IF;
  RAISE NOTICE 'no rows for %: %', moment, coalesce('the history is complete since ' || since, 'no run has seen the whole organization yet')
    USING HINT = 'Ask for a later time. simcat_report.daily_libraries and daily_owners keep the numbers of days before a prune.';
  RETURN false;
END $$;

COMMENT ON FUNCTION simcat_report.history_covers(timestamp with time zone) IS 'Whether the history is complete at this time: it is the present, or not before data_complete_as_of.history_complete_since. If not, it raises a NOTICE that says since when the history is complete. libraries_as_of() and scenarios_as_of() check it.';
