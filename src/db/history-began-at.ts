/** Whether a run saw everything, as `run_history.saw_everything`. */
export const SAW_EVERYTHING = `scope IS NULL AND finished_at IS NOT NULL AND (status = 'ok' AND listing_complete IS NOT FALSE
    OR listing_complete AND (status = 'partial'
      OR status = 'held' AND libraries_read + libraries_skipped + libraries_failed > 0))`;

/** When the history began: the end of the first run that saw everything. NULL before it. */
export const HISTORY_BEGAN_AT = `(
  SELECT finished_at FROM simcat.sync_runs WHERE ${SAW_EVERYTHING} ORDER BY id LIMIT 1)`;
