import type { SchemaState } from "../db/schema-state.ts";
import type { EndedRun } from "./known-runs.ts";
import type { Trouble, WorkerState } from "./state.ts";
import type { Vitals } from "./vitals.ts";

interface Reason {
  /** Stable. */
  readonly code: string;
  readonly message: string;
}

export interface Readiness {
  readonly ready: boolean;
  /** What keeps it from being ready, and what somebody should mend even though it is. */
  readonly reasons: readonly Reason[];
}

export interface Observed {
  readonly state: Readonly<WorkerState>;
  /** As last read; null before the first time. */
  readonly vitals: Vitals | null;
  /** The newer one of memory and database. */
  readonly lastGoodRun: EndedRun | null;
  /** Why they could not be read just now; null when they could. */
  readonly databaseError: string | null;
  /** The longest that three due moments in a row take. */
  readonly threeTicksMs: number;
  /** A run without progress for longer than this counts as stuck. */
  readonly stuckAfterMs: number;
  /** Of `performance.now()`. */
  readonly now: number;
}

/** Ready: database reachable, schema right, and the last good run not older than three due ticks, or a live run making progress. */
export function judgeReadiness(observed: Observed): Readiness {
  const { state, vitals, lastGoodRun, databaseError } = observed;
  const blocking: Reason[] = [];
  if (state.phase === "stopping") blocking.push({ code: "stopping", message: "the worker was told to stop" });
  if (state.phase === "starting") blocking.push({ code: "starting", message: "the worker waits for its database" });
  if (databaseError !== null) blocking.push({ code: "database_unreachable", message: databaseError });
  if (vitals !== null && databaseError === null) blocking.push(...judgeSchema(vitals.schema));
  const stale = vitals === null && lastGoodRun === null ? null : judgeAge(observed);
  if (stale !== null && !isProgressing(observed)) blocking.push(stale);
  const trouble = stillMatters(state.trouble, lastGoodRun) ?? heldRun(lastGoodRun);
  const told = trouble === null ? [] : [{ code: trouble.code, message: trouble.message }];
  return { ready: blocking.length === 0 && vitals !== null, reasons: [...blocking, ...told] };
}

function isProgressing({ state: { current }, now, stuckAfterMs }: Observed): boolean {
  return current !== null && current.progressAt !== null && now - current.progressAt <= stuckAfterMs;
}

function judgeSchema(schema: SchemaState): Reason[] {
  if (schema.kind === "current") return [];
  const message =
    schema.kind === "newer"
      ? "a later version of simcat has migrated the schema; run that one"
      : `the schema lacks ${schema.missing} of simcat's migrations; run: simcat migrate`;
  return [{ code: `schema_${schema.kind}`, message }];
}

/** By the due ticks that this worker saw since, and by time, for those that came before it was there. */
function judgeAge({ lastGoodRun, state, now, threeTicksMs }: Observed): Reason | null {
  if (lastGoodRun === null) return { code: "no_good_run", message: "no run over everything has come to its end yet" };
  const { row, endedAt } = lastGoodRun;
  const ticksSince = state.dueTicks.filter((tick) => tick > endedAt).length;
  if (ticksSince < 3 && now - endedAt <= threeTicksMs) return null;
  return {
    code: "stale",
    message: `the last good run (${row.id}) is older than three due runs; what is stored may be out of date`,
  };
}

/** That the last good run withheld something is in its row, whoever ran it, and however often this process began since. */
function heldRun(lastGoodRun: EndedRun | null): Reason | null {
  const run = lastGoodRun?.row;
  return run?.status === "held" ? { code: "held", message: run.error ?? "a guard withheld removals" } : null;
}

/** Not once a later run, of this worker or of another process, came to its end. */
function stillMatters(trouble: Trouble | null, lastGoodRun: EndedRun | null): Trouble | null {
  if (trouble === null || trouble.runId === null) return trouble;
  return (lastGoodRun?.row.id ?? 0) > trouble.runId ? null : trouble;
}
