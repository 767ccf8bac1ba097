import { setTimeout as sleep } from "node:timers/promises";
import type { MockLibrary } from "../../src/mock/library.ts";
import type { Selection } from "../../src/run-summary.ts";
import { isEverything } from "../../src/sync/rules/selection.ts";
import { EVERYTHING } from "../support/listing.ts";
import type { Interference, Statement } from "./gated-pool.ts";
import type { Heard } from "./ledger.ts";
import { type Accident, type Poison, QUIET, type RunPlan } from "./plan-run.ts";
import { keyOf, look, parseKey } from "./reader.ts";
import type { Simulation } from "./simulation.ts";
import { type Ended, startWorker, type Worker } from "./worker.ts";

/** A finished run, and the answers that it received. */
export interface PerformedRun {
  readonly ended: Ended;
  /** It did all that it had to do, although libraries may have failed or a guard may have held something. */
  readonly isCompleted: boolean;
  /** The libraries that it reported as failed, with their codes. */
  readonly failed: ReadonlyMap<string, string>;
  readonly heard: Heard;
  /** The service's libraries when the run began and when it ended; the same array if nothing changed. */
  readonly listings: readonly [before: readonly MockLibrary[], after: readonly MockLibrary[]];
  /** Other runs at the same time. */
  readonly others: readonly PerformedRun[];
  readonly plan: RunPlan;
}

const AHEAD_MS = 10_000;

/** Performs one run as planned, with all its accidents, until its sessions are gone. */
export async function performRun(simulation: Simulation, plan: RunPlan): Promise<PerformedRun> {
  const { scheduler } = simulation;
  const others: Promise<PerformedRun>[] = [];
  const performed = await scheduler.drive(begin(simulation, plan, others));
  const beside: PerformedRun[] = [];
  // Another run may start one more.
  for (const other of others) beside.push(await scheduler.drive(other));
  await untilGone(simulation);
  return { ...performed, others: beside };
}

async function begin(simulation: Simulation, plan: RunPlan, others: Promise<PerformedRun>[]): Promise<PerformedRun> {
  const { control, time, scheduler, ledger, service, workers, wrong, note } = simulation;
  const run = simulation.nextRun();
  const heard = ledger.open(run, plan.allowRemovals, plan.selection);
  service.expect(heard, plan.weather);
  const before = service.organization.libraries();
  if (plan.poison !== null) await poison(simulation, plan.poison);
  let statements = 0;
  let isOvertaken = false;

  const happen = async (what: Accident, statement: Statement): Promise<Interference> => {
    const { kind, ...rest } = what;
    note(`    ${run}: ${kind} ${Object.values(rest)} at statement ${statements}: ${statement.text.slice(0, 60)}`);
    if (what.kind === "stop") worker.stop();
    else if (what.kind === "joined") others.push(begin(simulation, { ...QUIET, selection: besideOf(plan) }, others));
    else if (what.kind === "overtaken") {
      // A run that did not learn that it took the lease takes it again, and may.
      const isUnsure = heard.listing === null && plan.accidents.some(({ what }) => what.kind === "loseAnswer");
      isOvertaken = (await overtake(simulation, worker, others)) && !isUnsure;
    } else if (what.kind === "restart") await endSessions(simulation);
    else return what;
    return { kind: "none" };
  };
  // The database's clock runs on by itself: without this, the run would seem to list before it began.
  time.advanceTo(time.now() + AHEAD_MS);
  const worker = startWorker(simulation, {
    run,
    plan,
    async interfere(statement) {
      statements += 1;
      const accident = plan.accidents.find(({ at }) => at === statements);
      return accident === undefined ? { kind: "none" } : happen(accident.what, statement);
    },
    async onCommit(hasWritten) {
      if (isOvertaken && hasWritten)
        wrong.push(`fence: ${run} committed something after another run had taken its lease`);
      wrong.push(...ledger.check(await look(control), others.length === 0 ? heard : undefined));
    },
  });
  workers.set(run, worker);
  note(
    `  ${run} begins: ${plan.kind}${plan.allowRemovals ? " --allow-removals" : ""}${plan.restart ? " --restart" : ""}${isEverything(plan.selection) ? "" : ` of ${JSON.stringify(plan.selection)}`}`,
  );
  const ended = await worker.ended;
  if (plan.poison !== null) await control.query("DELETE FROM sim.poison");
  workers.delete(run);
  const isCompleted = ["ok", "partial", "held"].includes(ended.status);
  const failed = new Map((ended.summary?.failures ?? []).map(({ key, code }) => [keyOf(key), code]));
  // Its failure may not be recorded, and a run's clock is ahead of the database's here: it looks as if it was listed later.
  if (plan.accidents.some(({ what }) => what.kind === "refuse")) {
    for (const key of failed.keys()) service.hidden.add(key);
  }
  if (isOvertaken && isCompleted) wrong.push(`fence: ${run} lost its lease and says ${ended.status}`);
  scheduler.forget(run);
  time.forget(run);
  // A run that was stopped while it took the lease may hold it until it expires, and SQL's clock stands still between the runs.
  if (ended.status === "killed" || ended.status === "refused") await control.expireLeases();
  note(`  ${run} ends: ${ended.status} after ${statements} statements${tell(ended)}`);
  const listings = [before, service.organization.libraries()] as const;
  return { ended, isCompleted, failed, heard, listings, others: [], plan };
}

/** Beside a slice the next one of the same count runs, beside any other run one of everything. */
function besideOf({ selection: { slice } }: RunPlan): Selection {
  return slice ? { ...EVERYTHING, slice: { ...slice, index: (slice.index % slice.count) + 1 } } : EVERYTHING;
}

/** From now on the database refuses these rows. */
async function poison({ control, service, note }: Simulation, { key, table, state }: Poison): Promise<void> {
  const { owner, name } = parseKey(key);
  await control.query("INSERT INTO sim.poison VALUES ($1, $2, $3, $4)", [owner, name, table, state]);
  // Nothing shows that it was listed.
  if (table === "library_sync") service.hidden.add(key);
  // One more reason to read it.
  service.misled.set(key, (service.misled.get(key) ?? 0) + 1);
  note(`  ${state} for ${key} in ${table}`);
}

/**
 * Pauses a run past its lease, as SIGSTOP does; another run does the work meanwhile.
 * @returns whether the paused worker had an active run, which may not write any more
 */
async function overtake(simulation: Simulation, worker: Worker, others: Promise<PerformedRun>[]): Promise<boolean> {
  const { scheduler, control } = simulation;
  worker.pause();
  // The server ends a session that is idle in a transaction before the lease expires.
  const idle = worker.openTransactions();
  await control.query("SELECT pg_terminate_backend(pid) FROM unnest($1::int4[]) AS pid", [idle]);
  await control.untilGone(idle);
  const running = await control.query(
    "SELECT 1 AS one FROM simcat.sync_runs WHERE status = 'running' AND version = $1",
    [worker.run],
  );
  await control.expireLeases();
  const other = begin(simulation, QUIET, others);
  others.push(other);
  await scheduler.drive(other);
  worker.resume();
  // The other one has not taken the lease if the run of another slice renewed its own meanwhile, or a session locked the row.
  return running.length > 0 && !["busy", "refused"].includes((await other).ended.status);
}

/** All sessions, as at a restart of Postgres. */
async function endSessions({ control }: Simulation): Promise<void> {
  await control.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'simcat'",
  );
}

/** Sessions of dead runs may hold their locks a moment longer. */
async function untilGone({ control }: Simulation): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    const [left] = await control.query<{ left: number }>(
      "SELECT count(*)::int4 AS left FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'simcat' AND (state <> 'idle' OR wait_event <> 'ClientRead')",
    );
    if (left?.left === 0) return;
    await sleep(1);
  }
  throw new Error("sessions of ended runs stay");
}

function tell({ summary, error }: Ended): string {
  const counts = Object.entries(summary?.counts ?? {}).filter(([, count]) => count !== 0);
  return `; ${counts.map(([name, count]) => `${name} ${count}`).join(", ")}${error instanceof Error ? `; ${error.message}` : ""}`;
}
