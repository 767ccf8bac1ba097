-- The key's index holds what questions about parents need, so that they read it only, in its order. Readers go on while it is built.
-- It has no room for these columns after names of more than 2,600 bytes in all: if there is such a row, the key stays as it is.
DO $$ BEGIN
  CREATE UNIQUE INDEX scenarios_covering ON simcat.scenarios (owner, library_name, scenario_id) INCLUDE (parent_id, is_result, last_modified_at, removed_at);
  ALTER TABLE simcat.scenarios DROP CONSTRAINT scenarios_owner_library_name_scenario_id_pk, ADD CONSTRAINT scenarios_owner_library_name_scenario_id_pk PRIMARY KEY USING INDEX scenarios_covering;
EXCEPTION WHEN program_limit_exceeded THEN NULL;
END $$;
