-- The schema of the views that people and BI tools read.
CREATE SCHEMA IF NOT EXISTS simcat_report;
--> statement-breakpoint
-- The rights of the roles that deploy/roles.sql makes, where they exist: for this role's tables, those to come included.
-- Where the schemas belong to another role, their owner must give them: running deploy/roles.sql again does.
DO $$ BEGIN
  IF to_regrole('simcat_writer') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA simcat, simcat_migrations, simcat_report TO simcat_writer;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat TO simcat_writer;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA simcat TO simcat_writer;
    GRANT SELECT ON ALL TABLES IN SCHEMA simcat_migrations, simcat_report TO simcat_writer;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO simcat_writer;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat GRANT USAGE ON SEQUENCES TO simcat_writer;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat_migrations, simcat_report GRANT SELECT ON TABLES TO simcat_writer;
  END IF;
  IF to_regrole('simcat_reader') IS NOT NULL THEN
    GRANT USAGE ON SCHEMA simcat_report TO simcat_reader;
    GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_reader;
    ALTER DEFAULT PRIVILEGES IN SCHEMA simcat_report GRANT SELECT ON TABLES TO simcat_reader;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'simcat_writer and simcat_reader could not be given their rights: run deploy/roles.sql';
END $$;
