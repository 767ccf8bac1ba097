-- Equal libraries that go and come together are paired in the order of their owners, each once.
CREATE OR REPLACE VIEW simcat_report.library_moves AS
SELECT seen_at, run_id, library_name, old_owner, new_owner, scenario_count, file_size_bytes
FROM (
  SELECT came.seen_at, came.run_id, came.library_name, gone.owner AS old_owner, came.owner AS new_owner,
    total.scenarios AS scenario_count, total.bytes AS file_size_bytes,
    dense_rank() OVER (alike ORDER BY gone.owner) = dense_rank() OVER (alike ORDER BY came.owner) AS is_pair
  FROM simcat.events gone
  JOIN simcat.events came ON came.run_id = gone.run_id AND came.library_name = gone.library_name
    AND came.scenario_id IS NULL AND came.kind IN ('added', 'returned')
  CROSS JOIN LATERAL (
    SELECT sum(e.scenarios)::bigint AS scenarios, sum(e.results)::bigint AS results, sum(e.bytes)::bigint AS bytes
    FROM simcat.events e WHERE e.owner = came.owner AND e.library_name = came.library_name AND e.run_id = came.run_id
  ) AS total
  WHERE gone.scenario_id IS NULL AND gone.kind = 'removed'
    AND (total.scenarios, total.results, total.bytes) = (-gone.scenarios, -gone.results, -gone.bytes)
  WINDOW alike AS (PARTITION BY came.run_id, came.library_name, total.scenarios, total.results, total.bytes)
) AS found
WHERE is_pair;

COMMENT ON VIEW simcat_report.library_moves IS 'Libraries that were removed while one of the same name, with as many scenarios, results and bytes, appeared under another owner in the same run, each in one row at most. This hints that a library moved or an owner was renamed. The service does not say it.';
COMMENT ON COLUMN simcat_report.library_moves.seen_at IS 'When simcat stored the library under its new owner.';
COMMENT ON COLUMN simcat_report.library_moves.run_id IS 'The run that found both (run_history.run_id).';
COMMENT ON COLUMN simcat_report.library_moves.library_name IS 'Name of the library, byte for byte.';
COMMENT ON COLUMN simcat_report.library_moves.old_owner IS 'Owner under which it was removed.';
COMMENT ON COLUMN simcat_report.library_moves.new_owner IS 'Owner under which it appeared.';
COMMENT ON COLUMN simcat_report.library_moves.scenario_count IS 'Number of its scenarios.';
COMMENT ON COLUMN simcat_report.library_moves.file_size_bytes IS 'Its size, as events count it: 0 if the size is not known.';
