-- The key's index holds what questions about parents need, so that they read it only, in its order. Readers go on while it is built.
CREATE UNIQUE INDEX scenarios_covering ON simcat.scenarios (owner, library_name, scenario_id) INCLUDE (parent_id, is_result, last_modified_at, removed_at);--> statement-breakpoint
ALTER TABLE simcat.scenarios DROP CONSTRAINT scenarios_owner_library_name_scenario_id_pk, ADD CONSTRAINT scenarios_owner_library_name_scenario_id_pk PRIMARY KEY USING INDEX scenarios_covering;
