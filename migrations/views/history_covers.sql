CREATE OR REPLACE FUNCTION simcat_report.history_covers(moment timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000
SET search_path = pg_catalog
AS $$
DECLARE
  since timestamptz := (SELECT max(p.cutoff) FROM simcat_report.prune_history p);
BEGIN
  IF moment < since THEN
    RAISE NOTICE 'no rows for %: simcat prune deleted history, which is complete since %', moment, since
      USING HINT = 'Ask for a later time. simcat_report.daily_libraries and daily_owners keep the numbers of earlier days.';
    RETURN false;
  END IF;
  RETURN true;
END $$;

COMMENT ON FUNCTION simcat_report.history_covers(timestamp with time zone) IS 'Whether no prune deleted history of this time or later. If one did, it raises a NOTICE that says since when the history is complete. libraries_as_of() and scenarios_as_of() check it.';
