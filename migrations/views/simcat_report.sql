-- Views and functions for people and BI tools. A name, a column or its type never changes here; new ones come at the end.
-- Functions read the views only, so that who may read the views can call them, and their bodies are parsed now, so that
-- nobody's search_path changes what they mean.
-- Only its owner can comment on a schema, so another role skips the comment.
DO $$ BEGIN
  COMMENT ON SCHEMA simcat_report IS 'The content of one Simulation Cloud organization for analysts and BI tools: stable views of a copy kept by simcat. Start with libraries and scenarios, which contain only live rows. data_complete_as_of shows how fresh the copy is. Views and columns are never renamed. All times are by the database''s clock, except last_modified_at, which is the service''s.';
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
