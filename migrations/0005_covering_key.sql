-- Questions about parents read this index only. The old key stays if names leave no room (2,600 bytes), or if another's object needs it.
DO $$ BEGIN
  CREATE UNIQUE INDEX scenarios_covering ON simcat.scenarios (owner, library_name, scenario_id) INCLUDE (parent_id, is_result, last_modified_at, removed_at);
  ALTER TABLE simcat.scenarios DROP CONSTRAINT scenarios_owner_library_name_scenario_id_pk, ADD CONSTRAINT scenarios_owner_library_name_scenario_id_pk PRIMARY KEY USING INDEX scenarios_covering;
EXCEPTION WHEN program_limit_exceeded OR dependent_objects_still_exist THEN NULL;
END $$;
