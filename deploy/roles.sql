-- Three roles for simcat's database, each with the least privileges for its work:
--
--   simcat_migrator  owns the schemas and may create in the database    simcat migrate, or DATABASE_DIRECT_URL
--   simcat_writer    reads and writes rows, changes no tables           DATABASE_URL of sync, backfill, start
--   simcat_reader    reads only the views of schema simcat_report       people and BI tools
--
-- Run it in simcat's database, as a superuser or as the database's owner with CREATEROLE:
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/roles.sql
--
-- Run it before or after the first migration, any number of times: it corrects differences. If an installation had one
-- role, its tables are transferred to simcat_migrator.
--
-- The script sets no passwords. A role without one cannot log in by password; set it in psql, which sends it hashed:
--
--   \password simcat_writer

BEGIN;
SET LOCAL client_min_messages = warning;

DO $$
DECLARE
  role text;
BEGIN
  FOREACH role IN ARRAY ARRAY['simcat_migrator', 'simcat_writer', 'simcat_reader'] LOOP
    IF to_regrole(role) IS NULL THEN
      EXECUTE format('CREATE ROLE %I LOGIN', role);
    END IF;
  END LOOP;
  -- A role that is not a superuser can transfer tables only to a role of which it is a member.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT simcat_migrator TO %I', current_user);
  END IF;
END $$;

-- The database itself. By default every role may create temporary tables in it, and up to Postgres 14 tables in public.
DO $$
BEGIN
  EXECUTE format('GRANT CREATE ON DATABASE %I TO simcat_migrator', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO simcat_migrator, simcat_writer, simcat_reader', current_database());
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  IF to_regnamespace('public') IS NOT NULL THEN
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  END IF;
END $$;

-- The migrator owns everything in simcat's schemas, whichever role created it.
DO $$
DECLARE
  schema text;
  item record;
BEGIN
  FOREACH schema IN ARRAY ARRAY['simcat', 'simcat_migrations', 'simcat_report'] LOOP
    IF to_regnamespace(schema) IS NULL THEN
      EXECUTE format('CREATE SCHEMA %I AUTHORIZATION simcat_migrator', schema);
    ELSIF NOT EXISTS (
      SELECT FROM pg_namespace WHERE nspname = schema AND nspowner = 'simcat_migrator'::regrole
    ) THEN
      EXECUTE format('ALTER SCHEMA %I OWNER TO simcat_migrator', schema);
    END IF;
    FOR item IN
      -- A sequence that belongs to a column follows its table.
      SELECT 'TABLE' AS kind, c.oid::regclass::text AS name FROM pg_class c
      WHERE c.relnamespace = to_regnamespace(schema) AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
        AND c.relowner <> 'simcat_migrator'::regrole
        AND NOT EXISTS (
          SELECT FROM pg_depend d
          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i')
        )
      UNION ALL
      SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p
      WHERE p.pronamespace = to_regnamespace(schema) AND p.proowner <> 'simcat_migrator'::regrole
    LOOP
      EXECUTE format('ALTER %s %s OWNER TO simcat_migrator', item.kind, item.name);
    END LOOP;
  END LOOP;
END $$;

-- Revoke everything first, so that no manual grant remains.
REVOKE ALL ON SCHEMA simcat, simcat_migrations, simcat_report FROM PUBLIC, simcat_writer, simcat_reader;
REVOKE ALL ON ALL TABLES IN SCHEMA simcat, simcat_migrations, simcat_report FROM PUBLIC, simcat_writer, simcat_reader;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA simcat, simcat_migrations, simcat_report FROM PUBLIC, simcat_writer, simcat_reader;

GRANT USAGE ON SCHEMA simcat TO simcat_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat TO simcat_writer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA simcat TO simcat_writer;
-- The journal of migrations: a run checks the version of the schema before it writes.
GRANT USAGE ON SCHEMA simcat_migrations TO simcat_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA simcat_migrations TO simcat_writer;
GRANT USAGE ON SCHEMA simcat_report TO simcat_writer, simcat_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_writer, simcat_reader;

-- The same for objects of later migrations.
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO simcat_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat GRANT USAGE ON SEQUENCES TO simcat_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat_migrations GRANT SELECT ON TABLES TO simcat_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat_report
  GRANT SELECT ON TABLES TO simcat_writer, simcat_reader;

-- A forgotten query must not block a migration forever. These are defaults, which a session may change; the grants above
-- are the limits. The search_path lets people write FROM libraries instead of FROM simcat_report.libraries; pg_catalog is
-- searched first. Compiling a query (jit) takes longer than it saves in these views. Members do not inherit settings: set the same
-- five for each role that you create IN ROLE simcat_reader.
ALTER ROLE simcat_reader SET default_transaction_read_only = on;
ALTER ROLE simcat_reader SET statement_timeout = '60s';
ALTER ROLE simcat_reader SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE simcat_reader SET search_path = simcat_report;
ALTER ROLE simcat_reader SET jit = off;

COMMIT;
