-- Parents are found by a hash of their whole key, or by the key's index, and parallel workers share the work. The empty text
-- hides from the planner that the scenarios may be read in the order of their key. Otherwise it may merge by owner and library only,
-- and compare all pairs of a library's scenarios: it does so if the table is in that order, or if random_page_cost is low.
CREATE OR REPLACE VIEW simcat_report.scenario_parents AS
SELECT s.owner, s.library_name, s.scenario_id, s.scenario_name, s.is_result, s.last_modified_at,
  nullif(s.parent_id, 0) AS parent_id,
  p.scenario_name AS parent_name, p.is_result AS parent_is_result, p.last_modified_at AS parent_last_modified_at,
  nullif(s.parent_id, 0) IS NOT NULL AND NOT coalesce(p.is_live, false) AS parent_missing,
  coalesce(nullif(s.parent_id, 0) = s.scenario_id, false) AS is_own_parent
-- Not from the view scenarios: up to Postgres 15, its join with library_freshness would stay. parent_missing does not test a
-- column for NULL, because the planner would expect no rows and scan the libraries once for each.
FROM simcat.scenarios s
LEFT JOIN (
  SELECT true AS is_live, one.owner, one.library_name, one.scenario_id, one.scenario_name, one.is_result, one.last_modified_at
  FROM simcat.scenarios one WHERE one.removed_at IS NULL
) AS p ON p.owner = s.owner || '' AND p.library_name = s.library_name || '' AND p.scenario_id = nullif(s.parent_id, 0)
WHERE s.removed_at IS NULL
  AND NOT EXISTS (
    SELECT FROM simcat.libraries l WHERE l.owner = s.owner AND l.library_name = s.library_name AND l.removed_at IS NOT NULL
  );

COMMENT ON VIEW simcat_report.scenario_parents IS 'Each live scenario with its parent, one level up and within the same library. A scenario without a parent has a row too.';
COMMENT ON COLUMN simcat_report.scenario_parents.owner IS 'Owner of the library: the user who uploaded it, byte for byte. First part of its key.';
COMMENT ON COLUMN simcat_report.scenario_parents.library_name IS 'Name of the library, byte for byte. Second part of its key.';
COMMENT ON COLUMN simcat_report.scenario_parents.scenario_id IS 'Number of the scenario, unique only within its library. It may exceed the integers that a double represents exactly.';
COMMENT ON COLUMN simcat_report.scenario_parents.scenario_name IS 'Name of the scenario, as sent. People rename scenarios, so it does not prove which scenario is the parent. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_parents.is_result IS 'The service''s flag: true for a result, false for a parent scenario. NULL: not sent.';
COMMENT ON COLUMN simcat_report.scenario_parents.last_modified_at IS 'last_modified as a time: the start of the minute, day or other period that the text names. A text without a time zone is read in SIMCAT_SERVICE_TIMEZONE. NULL: no text, or an unknown format.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_id IS 'scenario_id of the parent, as in scenarios. NULL: no parent.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_name IS 'Name of the parent. NULL: no parent, a missing parent, or a parent without a name.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_is_result IS 'The parent''s is_result; true if a result was run again. NULL: no parent, a missing parent, or not sent.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_last_modified_at IS 'The parent''s last_modified_at. NULL: no parent, a missing parent, or a date that is not known.';
COMMENT ON COLUMN simcat_report.scenario_parents.parent_missing IS 'Whether parent_id is set but no live scenario of the library has this number.';
COMMENT ON COLUMN simcat_report.scenario_parents.is_own_parent IS 'Whether the scenario names itself as its parent.';
