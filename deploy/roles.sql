-- Three roles for simcat's database, each with the least that its work needs:
--
--   simcat_migrator  owns the schemas and may create in the database    simcat migrate, or DATABASE_DIRECT_URL
--   simcat_writer    reads and writes rows, changes no table            DATABASE_URL of sync, backfill, start
--   simcat_reader    reads the views of schema simcat_report, no more   people and BI tools
--
-- Run it in simcat's database, as a superuser or as the database's owner with CREATEROLE:
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/roles.sql
--
-- Before the first migration or any time after it, and as often as you like: it puts back what differs. The tables of an
-- installation that worked with one role until now are handed over to simcat_migrator.
--
-- No passwords here. A role without one cannot log in by password; set it in psql, which sends it hashed:
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
  -- Who is no superuser can hand tables only to a role that it is a member of.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT simcat_migrator TO %I', current_user);
  END IF;
END $$;

-- The database itself. By default everybody may create temporary tables in it, and up to Postgres 14 tables in public.
DO $$
BEGIN
  EXECUTE format('GRANT CREATE ON DATABASE %I TO simcat_migrator', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO simcat_migrator, simcat_writer, simcat_reader', current_database());
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  IF to_regnamespace('public') IS NOT NULL THEN
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
  END IF;
END $$;

-- Everything in simcat's schemas belongs to the migrator, whoever made it.
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

-- Back to nothing first, so that what somebody granted by hand does not stay.
REVOKE ALL ON SCHEMA simcat, simcat_migrations, simcat_report FROM PUBLIC, simcat_writer, simcat_reader;
REVOKE ALL ON ALL TABLES IN SCHEMA simcat, simcat_migrations, simcat_report FROM PUBLIC, simcat_writer, simcat_reader;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA simcat, simcat_migrations, simcat_report FROM PUBLIC, simcat_writer, simcat_reader;

GRANT USAGE ON SCHEMA simcat TO simcat_writer;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat TO simcat_writer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA simcat TO simcat_writer;
-- The journal of migrations: before it writes, a run looks whether the schema is the one that it knows.
GRANT USAGE ON SCHEMA simcat_migrations TO simcat_writer;
GRANT SELECT ON ALL TABLES IN SCHEMA simcat_migrations TO simcat_writer;
GRANT USAGE ON SCHEMA simcat_report TO simcat_writer, simcat_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO simcat_writer, simcat_reader;

-- The same for what later migrations make.
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO simcat_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat GRANT USAGE ON SEQUENCES TO simcat_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat_migrations GRANT SELECT ON TABLES TO simcat_writer;
ALTER DEFAULT PRIVILEGES FOR ROLE simcat_migrator IN SCHEMA simcat_report
  GRANT SELECT ON TABLES TO simcat_writer, simcat_reader;

-- A forgotten query must not hold up a migration for ever. These are a session's defaults, which it may change for itself;
-- what it may never do is in the grants above. They do not pass on to members: give a role that you make IN ROLE
-- simcat_reader the same three.
ALTER ROLE simcat_reader SET default_transaction_read_only = on;
ALTER ROLE simcat_reader SET statement_timeout = '60s';
ALTER ROLE simcat_reader SET idle_in_transaction_session_timeout = '60s';

COMMIT;
