/** Every definition that migrations create, as Postgres prints it. */
export const DEFINITIONS = `
  SELECT c.relname AS name, pg_get_viewdef(c.oid) AS text FROM pg_class c
    WHERE relnamespace IN ('simcat'::regnamespace, 'simcat_report'::regnamespace) AND relkind = 'v'
  UNION ALL SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'simcat_report'::regnamespace
  UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'simcat'::regnamespace
  UNION ALL SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'simcat'::regnamespace)
  UNION ALL SELECT objoid::regclass::text || objsubid, description FROM pg_description
    WHERE classoid = 'pg_class'::regclass
      AND objoid IN (SELECT oid FROM pg_class WHERE relnamespace::regnamespace::text LIKE 'simcat%')
  UNION ALL SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE 'simcat%'
  ORDER BY 1, 2`;
