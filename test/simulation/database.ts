import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { MOVABLE_CLOCK } from "../support/database-clock.ts";
import { breakConnection, sessionOf, settled, streamOf } from "./gated-pool.ts";

/** The simulation's own access to the database, independent of the workers. */
export type Control = Awaited<ReturnType<typeof openControl>>;

/** What readers saw, the rows that the database refuses, and a default that was set before the clock could be. */
const OWN_TABLES = `
CREATE SCHEMA sim;
CREATE TABLE sim.moments (at timestamptz);
CREATE TABLE sim.seen_libraries (at timestamptz, owner text COLLATE "C", library_name text COLLATE "C", library_owner text,
  last_modified text, file_size text, package_name text, package_version text, description text);
CREATE TABLE sim.seen_scenarios (at timestamptz, owner text COLLATE "C", library_name text COLLATE "C", scenario_id int8,
  parent_id int8, scenario_name text, is_result bool, last_modified text, description text);
CREATE TABLE sim.poison (owner text, library_name text, on_table text, state text);
CREATE FUNCTION sim.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE found_state text;
BEGIN
  SELECT p.state INTO found_state FROM sim.poison p
  WHERE p.owner = NEW.owner AND p.library_name = NEW.library_name AND p.on_table = TG_TABLE_NAME;
  IF found_state IS NULL THEN RETURN NEW; END IF;
  RAISE EXCEPTION 'poisoned' USING ERRCODE = found_state;
END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON simcat.libraries FOR EACH ROW EXECUTE FUNCTION sim.refuse();
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON simcat.scenarios FOR EACH ROW EXECUTE FUNCTION sim.refuse();
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON simcat.library_sync FOR EACH ROW EXECUTE FUNCTION sim.refuse();
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON simcat.rejects FOR EACH ROW EXECUTE FUNCTION sim.refuse();
ALTER TABLE simcat.sync_runs ALTER started_at SET DEFAULT clock.clock_timestamp()`;

const TABLES =
  "libraries, scenarios, library_history, scenario_history, library_sync, scenario_absences, scenario_staging, sync_runs, rejects, leases, prunes, events, snapshot_days, library_days, owner_days";

/** A database with simcat's schema. The caller closes it. */
export async function openControl(url: string) {
  const client = new pg.Client({ connectionString: url, application_name: "simulation" });
  client.on("error", () => {});
  await client.connect();
  const query = async <T>(sql: string, values: readonly unknown[] = []) =>
    (await client.query(sql, [...values])).rows as T[];
  const [there] = await query<{ there: boolean }>("SELECT to_regnamespace('sim') IS NOT NULL AS there");
  if (!there?.there) await client.query(`${MOVABLE_CLOCK}; ${OWN_TABLES}`);
  const blocked = new Set<{ readonly one: pg.Client; readonly answered: boolean }>();
  const stateOf = async (session: number) =>
    (
      await query<{ state: string; since: string; waits: string | null }>(
        "SELECT state, state_change::text AS since, wait_event_type AS waits FROM pg_stat_activity WHERE pid = $1",
        [session],
      )
    )[0];
  /** Resolves when these sessions have released what they held. */
  const untilGone = async (sessions: readonly number[]) => {
    for (;;) {
      const [there] = await query<{ left: number }>(
        "SELECT count(*)::int4 AS left FROM pg_stat_activity WHERE pid = ANY ($1::int4[])",
        [sessions],
      );
      if (there?.left === 0) return;
      await sleep(1);
    }
  };
  /** False if it was answered in the end. */
  const isBlocked = async (waiting: { readonly one: pg.Client; readonly answered: boolean }) => {
    for (;;) {
      // Ask first: an answer may arrive while the session's state is queried.
      const state = waiting.answered ? undefined : await stateOf(sessionOf(waiting.one));
      if (waiting.answered) return false;
      if (state?.waits === "Lock") return true;
      await sleep(2);
    }
  };
  return {
    url,
    query,
    /** Ends the session and waits until its driver has noticed. */
    async terminate(one: pg.Client): Promise<void> {
      const gone = new Promise<void>((resolve) => {
        one.once("error", () => resolve());
        one.once("end", () => resolve());
      });
      await query("SELECT pg_terminate_backend($1)", [sessionOf(one)]);
      await Promise.race([gone, sleep(2_000)]);
      await untilGone([sessionOf(one)]);
    },
    untilGone,
    /** Executes the statement, or has it wait for a lock, and breaks the connection before its answer is read. */
    async loseAnswer(one: pg.Client, send: () => Promise<unknown>): Promise<unknown> {
      const before = await stateOf(sessionOf(one));
      streamOf(one).pause();
      const answer = send();
      const ended = settled(answer);
      let state = before;
      const isExecuted = () => state === undefined || (state.state !== "active" && state.since !== before?.since);
      const isWaiting = () => state?.waits === "Lock";
      while (!isExecuted() && !isWaiting()) {
        await sleep(1);
        state = await stateOf(sessionOf(one));
      }
      breakConnection(one);
      await ended;
      // The server executes a statement that waits for a lock when another operation has released it.
      if (!isWaiting()) await untilGone([sessionOf(one)]);
      return answer;
    },
    /** Resolves when the answer has arrived, or when the session waits for a lock. */
    async answeredOrBlocked(one: pg.Client, answer: Promise<unknown>): Promise<void> {
      const waiting = { one, answered: false };
      const patience = new AbortController();
      const noted = settled(answer).then(() => {
        waiting.answered = true;
        patience.abort();
      });
      await Promise.race([noted, settled(sleep(40, undefined, { signal: patience.signal }))]);
      if (!(await isBlocked(waiting))) return;
      blocked.add(waiting);
      void noted.then(() => blocked.delete(waiting));
    },
    /** Call after a lock may have been released: waits for the answers of sessions that waited for it. */
    async letGo(): Promise<void> {
      for (const waiting of blocked) await isBlocked(waiting);
    },
    /** Sets SQL's clock to this moment, in ms since the epoch; `onwards` never sets it back. */
    async setClock(moment: number, how: "anew" | "onwards"): Promise<void> {
      const shift = "to_timestamp($1::float8 / 1000) - pg_catalog.clock_timestamp()";
      await query(`UPDATE clock.shift SET by = ${how === "anew" ? shift : `greatest(by, ${shift})`}`, [moment]);
    },
    /** Ends every lease, and first the sessions that lock one in a transaction that nothing goes on with, as the server would after 15 s. */
    async expireLeases(): Promise<void> {
      const [leases] = await query<{ locked: boolean }>(
        `SELECT count(*) < (SELECT count(*) FROM simcat.leases) AS locked
         FROM (SELECT FROM simcat.leases FOR NO KEY UPDATE SKIP LOCKED) AS free`,
      );
      const ended = await query<{ pid: number }>(
        // Not in WHERE, which may be evaluated for the sessions of other databases too.
        `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE $1 AND datname = current_database()
           AND application_name = 'simcat' AND state LIKE 'idle in transaction%'`,
        [leases?.locked],
      );
      await untilGone(ended.map(({ pid }) => pid));
      await query("UPDATE simcat.leases SET expires_at = clock.clock_timestamp() - interval '1 second'");
    },
    /** Empties all tables, as after a migration. */
    async empty(): Promise<void> {
      const names = TABLES.split(", ").map((name) => `simcat.${name}`);
      const own = "sim.poison, sim.moments, sim.seen_libraries, sim.seen_scenarios";
      await client.query(`TRUNCATE ${names.join(", ")}, ${own} RESTART IDENTITY`);
    },
    end: () => client.end(),
  };
}
