-- Three roles for simcat's database, each with the least privileges for its work:
--
--   simcat_migrator  owns the schemas and may create in the database    simcat migrate, or DATABASE_DIRECT_URL
--   simcat_writer    reads and writes rows, changes no tables           DATABASE_URL of sync, backfill, start
--   simcat_reader    reads only the views of schema simcat_report       people and BI tools
--
-- Run it with psql in simcat's database, as a superuser or as the database's owner with CREATEROLE:
--
--   psql "$ADMIN_URL" -v ON_ERROR_STOP=1 -f deploy/roles.sql
--
-- Run it before or after the first migration, any number of times: it corrects differences. If an installation had one
-- role, its tables are transferred to simcat_migrator.
--
-- Roles belong to the server, not to a database. If several organizations have databases on one server, give each its own
-- roles: -v prefix=north makes north_migrator, north_writer and north_reader. Only the roles of this database may connect to it.
--
-- The script sets no passwords. A role without one cannot log in by password; set it in psql, which sends it hashed:
--
--   \password simcat_writer

\if :{?prefix}
SET simcat.prefix = :'prefix';
\endif

BEGIN;
SET LOCAL client_min_messages = warning;

DO $$
DECLARE
  prefix text := coalesce(current_setting('simcat.prefix', true), 'simcat');
  migrator text := quote_ident(prefix || '_migrator');
  writer text := quote_ident(prefix || '_writer');
  reader text := quote_ident(prefix || '_reader');
  schemas text := 'simcat, simcat_migrations, simcat_report';
  database text := quote_ident(current_database());
  name text;
  item record;
BEGIN
  IF prefix !~ '^[a-z][a-z0-9_]{0,53}$' THEN
    RAISE EXCEPTION 'the prefix becomes part of the names of roles: use lower-case letters, digits and _, not "%"', prefix;
  END IF;
  FOREACH name IN ARRAY ARRAY[migrator, writer, reader] LOOP
    IF to_regrole(name) IS NULL THEN EXECUTE format('CREATE ROLE %s LOGIN', name); END IF;
  END LOOP;
  -- A role that is not a superuser can transfer tables only to a role of which it is a member.
  IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT %s TO %I', migrator, current_user);
  END IF;
  -- The database itself. By default every role of the server may connect to it and create temporary tables in it, and up to
  -- Postgres 14 tables in public.
  EXECUTE format('REVOKE CONNECT, TEMPORARY ON DATABASE %s FROM PUBLIC', database);
  EXECUTE format('GRANT CREATE ON DATABASE %s TO %s', database, migrator);
  EXECUTE format('GRANT CONNECT ON DATABASE %s TO %s, %s, %s', database, migrator, writer, reader);
  IF to_regnamespace('public') IS NOT NULL THEN
    REVOKE CREATE ON SCHEMA public FROM PUBLIC;
    -- Up to Postgres 14 the owner of a database does not own its schema public.
    IF has_schema_privilege(reader, 'public', 'CREATE') THEN
      RAISE WARNING '% may still create tables in schema public: have its owner % run REVOKE CREATE ON SCHEMA public FROM PUBLIC', reader,
        (SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'public');
    END IF;
  END IF;
  -- The migrator owns everything in simcat's schemas, whichever role created it.
  FOREACH name IN ARRAY string_to_array(schemas, ', ') LOOP
    IF to_regnamespace(name) IS NULL THEN
      EXECUTE format('CREATE SCHEMA %s AUTHORIZATION %s', name, migrator);
    ELSIF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = name AND nspowner = to_regrole(migrator)) THEN
      EXECUTE format('ALTER SCHEMA %s OWNER TO %s', name, migrator);
    END IF;
    FOR item IN
      -- A sequence that belongs to a column follows its table.
      SELECT 'TABLE' AS kind, c.oid::regclass::text AS name FROM pg_class c
      WHERE c.relnamespace = to_regnamespace(name) AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
        AND c.relowner <> to_regrole(migrator)
        AND NOT EXISTS (
          SELECT FROM pg_depend d
          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND c.relkind = 'S' AND d.deptype IN ('a', 'i')
        )
      UNION ALL
      SELECT 'ROUTINE', p.oid::regprocedure::text FROM pg_proc p
      WHERE p.pronamespace = to_regnamespace(name) AND p.proowner <> to_regrole(migrator)
    LOOP
      EXECUTE format('ALTER %s %s OWNER TO %s', item.kind, item.name, migrator);
    END LOOP;
  END LOOP;
  -- Revoke everything first, so that no manual grant remains.
  EXECUTE format('REVOKE ALL ON SCHEMA %s FROM PUBLIC, %s, %s', schemas, writer, reader);
  EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %s FROM PUBLIC, %s, %s', schemas, writer, reader);
  EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %s FROM PUBLIC, %s, %s', schemas, writer, reader);
  -- Up to version 0.2.0, migrations granted these roles their rights in the databases of other prefixes too.
  FOREACH name IN ARRAY ARRAY['simcat_writer', 'simcat_reader'] LOOP
    CONTINUE WHEN name IN (writer, reader) OR to_regrole(name) IS NULL;
    EXECUTE format('REVOKE ALL ON SCHEMA %s FROM %s', schemas, name);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %s FROM %s', schemas, name);
    EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA %s FROM %s', schemas, name);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA %s REVOKE ALL ON TABLES FROM %s', migrator, schemas, name);
    EXECUTE format('ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA %s REVOKE ALL ON SEQUENCES FROM %s', migrator, schemas, name);
  END LOOP;
  -- The writer reads the journal of migrations too: a run checks the version of the schema before it writes.
  EXECUTE format('GRANT USAGE ON SCHEMA %s TO %s', schemas, writer);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat TO %s', writer);
  EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA simcat TO %s', writer);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA simcat_migrations TO %s', writer);
  EXECUTE format('GRANT USAGE ON SCHEMA simcat_report TO %s', reader);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA simcat_report TO %s, %s', writer, reader);
  -- simcat query reads with the rights of the reader.
  EXECUTE format('GRANT %s TO %s, %s', reader, migrator, writer);
  -- The same for objects of later migrations.
  FOR item IN
    SELECT * FROM (VALUES
      ('simcat', 'SELECT, INSERT, UPDATE, DELETE ON TABLES', writer),
      ('simcat', 'USAGE ON SEQUENCES', writer),
      ('simcat_migrations', 'SELECT ON TABLES', writer),
      ('simcat_report', 'SELECT ON TABLES', writer || ', ' || reader)
    ) AS later(schema, rights, roles)
  LOOP
    EXECUTE format(
      'ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA %s GRANT %s TO %s', migrator, item.schema, item.rights, item.roles
    );
  END LOOP;
  -- A forgotten query must not block a migration forever. These are defaults, which a session may change; the grants above
  -- are the limits. The search_path lets people write FROM libraries instead of FROM simcat_report.libraries; pg_catalog is
  -- searched first. Compiling a query (jit) takes longer than it saves in these views. Members do not inherit settings: set the
  -- same five for each role that you create IN ROLE simcat_reader.
  EXECUTE format('ALTER ROLE %s SET default_transaction_read_only = on', reader);
  EXECUTE format('ALTER ROLE %s SET statement_timeout = %L', reader, '60s');
  EXECUTE format('ALTER ROLE %s SET idle_in_transaction_session_timeout = %L', reader, '60s');
  EXECUTE format('ALTER ROLE %s SET search_path = simcat_report', reader);
  EXECUTE format('ALTER ROLE %s SET jit = off', reader);
  -- The owner of the tables and simcat itself find the views under these names too.
  EXECUTE format('ALTER ROLE %s SET search_path = simcat_report, public', migrator);
  EXECUTE format('ALTER ROLE %s SET search_path = simcat_report, public', writer);
END $$;

COMMIT;
