import type { SchemaState } from "../db/schema-state.ts";
import type { DatabaseHealth } from "./database-health.ts";
import type { EndedRun, Trouble, WorkerState } from "./worker-state.ts";

interface Reason {
  /** Part of the public interface. */
  readonly code: string;
  readonly message: string;
}

export interface Readiness {
  readonly ready: boolean;
  /** The reasons why it is not ready, and problems to look at that do not affect readiness. */
  readonly reasons: readonly Reason[];
}

export interface ReadinessFacts {
  readonly state: Readonly<WorkerState>;
  /** As last read; null before the first successful read. */
  readonly health: DatabaseHealth | null;
  /** The newest one, from this process's memory or the database. */
  readonly lastGoodRun: EndedRun | null;
  /** Why the last read failed; null if it succeeded. */
  readonly databaseError: string | null;
  /** The longest time that three consecutive due ticks take. */
  readonly threeTicksMs: number;
  /** A run without progress for longer than this is considered stuck. */
  readonly stuckAfterMs: number;
  /** As `performance.now()`. */
  readonly now: number;
}

/**
 * Ready: the database is reachable, its schema is current, and the last good run is not older than three due ticks or a run
 * is making progress.
 */
export function judgeReadiness(facts: ReadinessFacts): Readiness {
  const { state, health, lastGoodRun, databaseError } = facts;
  const blocking: Reason[] = [];
  if (state.phase === "stopping") blocking.push({ code: "stopping", message: "the worker is stopping" });
  if (state.phase === "starting")
    blocking.push({ code: "starting", message: "the worker is waiting for its database" });
  if (databaseError !== null) blocking.push({ code: "database_unreachable", message: databaseError });
  if (health !== null && databaseError === null) blocking.push(...judgeSchema(health.schema));
  const stale = health === null && lastGoodRun === null ? null : judgeAge(facts);
  if (stale !== null && !isProgressing(facts)) blocking.push(stale);
  const trouble = currentTrouble(state.trouble, lastGoodRun) ?? heldRun(lastGoodRun);
  const notBlocking = trouble === null ? [] : [{ code: trouble.code, message: trouble.message }];
  return { ready: blocking.length === 0 && health !== null, reasons: [...blocking, ...notBlocking] };
}

function isProgressing({ state: { current }, now, stuckAfterMs }: ReadinessFacts): boolean {
  return current !== null && current.progressAt !== null && now - current.progressAt <= stuckAfterMs;
}

function judgeSchema(schema: SchemaState): Reason[] {
  if (schema.kind === "current") return [];
  const message =
    schema.kind === "newer"
      ? "a later version of simcat has migrated the schema; run that version"
      : `the schema lacks ${schema.missing} of simcat's migrations; run: simcat migrate`;
  return [{ code: `schema_${schema.kind}`, message }];
}

/** Counts the due ticks that this worker saw, and compares times, because ticks before its start are unknown. */
function judgeAge({ lastGoodRun, state, now, threeTicksMs }: ReadinessFacts): Reason | null {
  if (lastGoodRun === null) return { code: "no_good_run", message: "no run of all libraries has completed yet" };
  const { row, endedAt } = lastGoodRun;
  const ticksSince = state.dueTicks.filter((tick) => tick > endedAt).length;
  if (ticksSince < 3 && now - endedAt <= threeTicksMs) return null;
  return {
    code: "stale",
    message: `the last good run (${row.id}) is older than three due runs; the copy may be out of date`,
  };
}

/** The run's row says that removals were held, whichever process ran it. */
function heldRun(lastGoodRun: EndedRun | null): Reason | null {
  const run = lastGoodRun?.row;
  return run?.status === "held" ? { code: "held", message: run.error ?? "a guard held removals" } : null;
}

/** Trouble ends with the next good run, of any process. */
function currentTrouble(trouble: Trouble | null, lastGoodRun: EndedRun | null): Trouble | null {
  if (trouble === null || trouble.runId === null) return trouble;
  return (lastGoodRun?.row.id ?? 0) > trouble.runId ? null : trouble;
}
