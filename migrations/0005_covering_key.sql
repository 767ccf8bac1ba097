-- The key's index holds what questions about parents need, so that they read it only, in its order. Readers go on while it is built.
-- The key stays as it is if a row's names leave no room for these columns (2,600 bytes), or if another's foreign key or view depends on it.
DO $$ BEGIN
  CREATE UNIQUE INDEX scenarios_covering ON simcat.scenarios (owner, library_name, scenario_id) INCLUDE (parent_id, is_result, last_modified_at, removed_at);
  ALTER TABLE simcat.scenarios DROP CONSTRAINT scenarios_owner_library_name_scenario_id_pk, ADD CONSTRAINT scenarios_owner_library_name_scenario_id_pk PRIMARY KEY USING INDEX scenarios_covering;
EXCEPTION WHEN program_limit_exceeded OR dependent_objects_still_exist THEN NULL;
END $$;
