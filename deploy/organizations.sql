-- One place to ask about several organizations. Each organization has a database of its own, which simcat fills; this
-- script connects one of them to a further database for reports, and makes views over all that are connected.
--
-- Run it in the database for reports with psql 14 or later, once for each organization, as a role that may create
-- extensions, schemas and roles there:
--
--   ORGANIZATION_PASSWORD=… psql "$REPORTS_URL" -v ON_ERROR_STOP=1 \
--     -v organization=north -v host=db.example.com -v port=5432 -v database=north -v user=north_reader \
--     -f deploy/organizations.sql
--
-- It creates or renews, in one transaction:
--
--   server and schema north     the views of simcat_report of that organization, as foreign tables
--   schema all_organizations    each view of all connected organizations, with a first column `organization`
--   role organizations_reader   may read both; set its password with \password
--
-- Run it again after an upgrade, or when a password has changed. A view or column that not every organization has yet is
-- left out of all_organizations, with a NOTICE. The password is sent as data, so that no log of statements shows it; without
-- ORGANIZATION_PASSWORD the connection is made without one (only superusers may set that up).
--
-- To disconnect an organization: DROP SERVER north CASCADE; DROP SCHEMA north CASCADE; then run the script for another one.

\set ON_ERROR_STOP on
\set QUIET on
BEGIN;
SET LOCAL client_min_messages = notice;
SET LOCAL search_path = pg_catalog, pg_temp;
-- Two runs at a time would make the same views.
SELECT pg_advisory_xact_lock(hashtext('all_organizations')) \g /dev/null

CREATE TEMPORARY TABLE connection (organization text, host text, port text, database text, "user" text) ON COMMIT DROP;
INSERT INTO connection VALUES (:'organization', :'host', :'port', :'database', :'user');
CREATE TEMPORARY TABLE secret (password text) ON COMMIT DROP;
-- A control character cannot be part of the password, so nothing of it is taken for a quote or a separator.
\copy pg_temp.secret FROM PROGRAM 'printf "%s\n" "$ORGANIZATION_PASSWORD"' WITH (FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01', NULL '')

SELECT set_config('client_min_messages', 'warning', true) \g /dev/null
CREATE EXTENSION IF NOT EXISTS postgres_fdw WITH SCHEMA public;

DO $$
DECLARE
  c record;
  is_superuser boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
  secret text := (SELECT password FROM pg_temp.secret);
BEGIN
  SELECT * INTO c FROM pg_temp.connection;
  IF c.organization !~ '^[a-z][a-z0-9_]{0,59}$' OR c.organization ~ '^pg_'
    OR c.organization IN ('all_organizations', 'public', 'information_schema', 'simcat', 'simcat_report') THEN
    RAISE EXCEPTION 'the name of the organization becomes a schema: use lower-case letters, digits and _, not "%"', c.organization;
  END IF;
  IF to_regnamespace(c.organization) IS NOT NULL
    AND NOT EXISTS (SELECT FROM pg_foreign_server WHERE srvname = c.organization) THEN
    RAISE EXCEPTION 'the schema % exists and was not made by this script', c.organization;
  END IF;

  IF NOT EXISTS (SELECT FROM pg_foreign_server WHERE srvname = c.organization) THEN
    EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER postgres_fdw', c.organization);
  END IF;
  -- Every option is written anew. async_capable asks all organizations at the same time.
  EXECUTE (
    SELECT format('ALTER SERVER %I OPTIONS (%s)', c.organization, string_agg(
      format('%s %I %L', CASE WHEN has.option IS NULL THEN 'ADD' ELSE 'SET' END, o.name, o.value), ', '))
    FROM (VALUES
      ('host', c.host), ('port', c.port), ('dbname', c.database), ('connect_timeout', '10'), ('fetch_size', '10000'),
      ('async_capable', 'true'), ('updatable', 'false'), ('application_name', 'all_organizations')
    ) AS o(name, value)
    LEFT JOIN (
      SELECT split_part(option, '=', 1) AS option FROM pg_foreign_server, unnest(srvoptions) AS option
      WHERE srvname = c.organization
    ) AS has ON has.option = o.name
  );

  EXECUTE format('DROP USER MAPPING IF EXISTS FOR PUBLIC SERVER %I', c.organization);
  BEGIN
    EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %I OPTIONS (user %L%s%s)', c.organization, c."user",
      CASE WHEN secret IS NOT NULL THEN format(', password %L', secret) END,
      CASE WHEN secret IS NULL AND is_superuser THEN ', password_required ''false''' END);
  EXCEPTION WHEN OTHERS THEN
    -- The error's own context shows the statement, and so the password.
    RAISE EXCEPTION 'the user mapping of % cannot be created: %', c.organization, SQLERRM;
  END;

  -- The views are built on the foreign tables. RESTRICT: a view that somebody else built on them is named, and nothing changes.
  IF to_regnamespace('all_organizations') IS NOT NULL THEN
    EXECUTE (
      SELECT coalesce(format('DROP VIEW %s RESTRICT', string_agg(oid::regclass::text, ', ')), 'SELECT')
      FROM pg_class WHERE relnamespace = 'all_organizations'::regnamespace AND relkind = 'v'
    );
  END IF;
  IF to_regnamespace(c.organization) IS NOT NULL THEN
    EXECUTE (
      SELECT coalesce(format('DROP FOREIGN TABLE %s RESTRICT', string_agg(oid::regclass::text, ', ')), 'SELECT')
      FROM pg_class WHERE relnamespace = to_regnamespace(c.organization) AND relkind = 'f'
    );
  ELSE
    EXECUTE format('CREATE SCHEMA %I', c.organization);
  END IF;
  EXECUTE format('IMPORT FOREIGN SCHEMA simcat_report FROM SERVER %1$I INTO %1$I', c.organization);
  IF NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace(c.organization)) THEN
    RAISE EXCEPTION 'the database % at % has no views of simcat that the role % can read', c.database, c.host, c."user";
  END IF;
END $$;

SELECT set_config('client_min_messages', 'notice', true) \g /dev/null

-- Each view over all organizations, with the columns that every organization has, in the order of the first one.
DO $$
DECLARE
  organizations text[] := ARRAY(
    SELECT srvname::text FROM pg_foreign_server s
    WHERE to_regnamespace(quote_ident(srvname)) IS NOT NULL
      AND EXISTS (
        SELECT FROM pg_foreign_table t JOIN pg_class c ON c.oid = t.ftrelid
        WHERE t.ftserver = s.oid AND c.relnamespace = to_regnamespace(quote_ident(srvname))
      )
    ORDER BY srvname
  );
  v record;
BEGIN
  IF to_regnamespace('all_organizations') IS NULL THEN CREATE SCHEMA all_organizations; END IF;
  FOR v IN
    WITH columns AS (
      SELECT n.nspname::text AS organization, c.relname AS view, a.attname, a.attnum, format_type(a.atttypid, a.atttypmod) AS type
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ANY (organizations)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relkind = 'f'
    ), shared AS (
      SELECT view, attname, type, count(*) = cardinality(organizations) AS is_shared,
        (array_agg(attnum ORDER BY organization))[1] AS position
      FROM columns GROUP BY view, attname, type
    )
    SELECT view, bool_or(is_shared) AS is_shared,
      string_agg(quote_ident(attname), ', ' ORDER BY position) FILTER (WHERE is_shared) AS list,
      string_agg(DISTINCT attname::text, ', ') FILTER (WHERE NOT is_shared) AS missing
    FROM shared GROUP BY view ORDER BY view
  LOOP
    IF NOT v.is_shared THEN
      RAISE NOTICE 'all_organizations.% is left out: not every organization has this view yet', v.view;
      CONTINUE;
    END IF;
    IF v.missing IS NOT NULL THEN
      RAISE NOTICE 'all_organizations.% is without the columns that not every organization has yet: %', v.view, v.missing;
    END IF;
    EXECUTE format('CREATE VIEW all_organizations.%I AS %s', v.view, (
      SELECT string_agg(format('SELECT %L::text AS organization, %s FROM %I.%I', organization, v.list, organization, v.view),
        ' UNION ALL ' ORDER BY organization)
      FROM unnest(organizations) AS organization
    ));
  END LOOP;
END $$;

-- Compiling a query over many foreign tables takes 45 s, running it one; so jit is off for whoever reads them.
DO $$
DECLARE
  schema text;
BEGIN
  IF to_regrole('organizations_reader') IS NULL THEN
    CREATE ROLE organizations_reader LOGIN;
  END IF;
  ALTER ROLE organizations_reader SET jit = off;
  ALTER ROLE organizations_reader SET default_transaction_read_only = on;
  ALTER ROLE organizations_reader SET search_path = all_organizations;
  FOR schema IN
    SELECT nspname FROM pg_namespace
    WHERE nspname = 'all_organizations' OR nspname = (SELECT organization FROM pg_temp.connection)
  LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO organizations_reader', schema);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO organizations_reader', schema);
  END LOOP;
END $$;

COMMIT;
