CREATE OR REPLACE VIEW simcat_report.prune_history AS
SELECT p.pruned_at, p.cutoff, p.library_versions, p.scenario_versions, p.events
FROM simcat.prunes p;

COMMENT ON VIEW simcat_report.prune_history IS 'The prunes that deleted history, one row each. Earlier times than the latest cutoff cannot be asked for: libraries_as_of() and scenarios_as_of() return no rows for them.';
COMMENT ON COLUMN simcat_report.prune_history.pruned_at IS 'When the prune first deleted history. For prunes by versions that did not record it: when the schema was updated.';
COMMENT ON COLUMN simcat_report.prune_history.cutoff IS 'Versions that ended before this time were deleted, with everything that was removed before it.';
COMMENT ON COLUMN simcat_report.prune_history.library_versions IS 'Number of versions of libraries deleted. NULL: not known, because the prune was made by a version that did not record it.';
COMMENT ON COLUMN simcat_report.prune_history.scenario_versions IS 'Number of versions of scenarios deleted. NULL: not known, because the prune was made by a version that did not record it.';
COMMENT ON COLUMN simcat_report.prune_history.events IS 'Whether the events before the cutoff were deleted too (simcat prune --events).';
