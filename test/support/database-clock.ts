import type { TestDatabase } from "./database.ts";

/** Functions that precede Postgres's own on the search path of new sessions; `clock.shift` sets the time that they return. */
export const MOVABLE_CLOCK = `
CREATE SCHEMA clock;
CREATE TABLE clock.shift (by interval NOT NULL);
INSERT INTO clock.shift VALUES ('0');
CREATE FUNCTION clock.now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT pg_catalog.now() + by FROM clock.shift';
CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
  AS 'SELECT pg_catalog.clock_timestamp() + by FROM clock.shift';
DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET search_path = clock, pg_catalog, public', current_database());
  EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = clock, pg_catalog, public', current_user, current_database());
END $$`;

/** Lets a test set the clock that simcat's statements read. Call it before the sessions begin. */
export async function movableClock({ query }: Pick<TestDatabase, "query">): Promise<(moment: string) => Promise<void>> {
  await query(MOVABLE_CLOCK);
  return async (moment) => {
    await query("UPDATE clock.shift SET by = $1::timestamptz - pg_catalog.clock_timestamp()", [moment]);
  };
}
