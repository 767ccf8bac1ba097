CREATE INDEX "events_presence_index" ON "simcat"."events" USING btree ("run_id","library_name") WHERE scenario_id IS NULL AND kind <> 'changed';--> statement-breakpoint
CREATE INDEX "scenarios_last_modified_at_index" ON "simcat"."scenarios" USING btree ("last_modified_at");--> statement-breakpoint
CREATE INDEX "scenarios_suspicious_index" ON "simcat"."scenarios" USING btree ("owner","library_name","scenario_id") WHERE removed_at IS NULL AND (last_modified <> '' AND last_modified_at IS NULL
  OR is_result AND nullif(parent_id, 0) IS NULL OR NOT is_result AND nullif(parent_id, 0) IS NOT NULL OR nullif(parent_id, 0) >= scenario_id);--> statement-breakpoint
-- Results by their parent, the latest first. As in 0005, names may leave no room; then the index has none.
DO $$ BEGIN
  CREATE INDEX scenarios_parent_index ON simcat.scenarios USING btree (owner, library_name, nullif(parent_id, 0), last_modified_at DESC NULLS LAST, scenario_id DESC, is_result, parent_id) WHERE removed_at IS NULL AND nullif(parent_id, 0) IS NOT NULL;
EXCEPTION WHEN program_limit_exceeded THEN CREATE INDEX scenarios_parent_index ON simcat.scenarios (parent_id);
END $$;
