import { inspect } from "node:util";
import { createRandom } from "../../src/mock/random.ts";
import { lowerMemoryLimits } from "../support/memory-limits.ts";
import { checkDrift } from "./check-drift.ts";
import { checkEnding } from "./check-ending.ts";
import { checkEqual } from "./check-equal.ts";
import { checkEvents, recountEvents } from "./check-events.ts";
import { openFreshnessLog } from "./check-freshness.ts";
import { checkBookkeeping, checkCounts, checkTotals } from "./check-numbers.ts";
import { checkPoison } from "./check-poison.ts";
import { openRemovalLog } from "./check-removals.ts";
import { checkSnapshots } from "./check-snapshots.ts";
import type { Control } from "./database.ts";
import { checkHistories, remember } from "./histories.ts";
import { performRun } from "./perform-run.ts";
import { drawRun, QUIET } from "./plan-run.ts";
import { pruneBetween } from "./prune-between.ts";
import { look } from "./reader.ts";
import { createSimulation, type Simulation } from "./simulation.ts";
import { LONGEST_WINDOW, type Run, runSlices, swapListing, untilOk } from "./special-runs.ts";
import { checkSwaps } from "./swaps.ts";
import { verifyEnd } from "./verify-end.ts";
import { DAY, SECOND } from "./world.ts";

export type SeedResult = Awaited<ReturnType<typeof runSeed>>;

const LINES = 60;

/** Ends a seed after a run that violated an invariant. */
class Violated extends Error {}

/** Returns a function that performs a run and checks all that must hold after it. `statuses` counts how the runs ended. */
function createRun(simulation: Simulation, statuses: Record<string, number>): Run {
  const { control, world, ledger, wrong, now } = simulation;
  const checkRemovals = openRemovalLog(world.maxRemovedPercent);
  const checkFreshness = openFreshnessLog();
  return async (plan) => {
    const before = await look(control);
    const performed = await performRun(simulation, plan);
    for (const { ended } of [performed, ...performed.others]) {
      statuses[ended.status] = (statuses[ended.status] ?? 0) + 1;
    }
    const sight = await look(control);
    wrong.push(
      ...ledger.check(sight),
      ...checkRemovals(before, sight, performed, now()),
      ...(await checkEnding(simulation, performed, sight)),
      ...(await checkCounts(simulation, performed)),
      ...checkDrift(performed, before, sight),
      ...(await checkSwaps(simulation, performed)),
      ...(await checkPoison(simulation, performed, sight)),
      ...(await checkFreshness(simulation, performed, sight)),
      ...(await checkEvents(simulation)),
      ...(await checkTotals(simulation)),
      ...(await checkSnapshots(simulation, performed)),
    );
    ledger.settle(sight);
    await remember(control);
    if (wrong.length > 0) throw new Violated();
    return performed;
  };
}

/**
 * Runs one seed from an empty database to the end. The same seed always gives the same events. `wrong` is empty if every
 * invariant held.
 */
export async function runSeed(seed: number, database: Control) {
  const simulation = await createSimulation(seed, database);
  const { world, service, random, wrong, trace, note } = simulation;
  const statuses: Record<string, number> = {};
  const run = createRun(simulation, statuses);
  const restoreLimits = lowerMemoryLimits(world.memory);
  // Drawn separately, so that the other events of a seed do not depend on it.
  const rare = createRandom(seed + 1_000_003);
  const hasSwaps = rare.chance(0.25);
  const cached = createRandom(seed + 2_000_003).chance(0.3) ? 0.4 : 0;
  const sliced = createRandom(seed + 4_000_003);
  const hasSlices = sliced.chance(0.3);
  try {
    note(`seed ${seed}: ${JSON.stringify(world)}, ${service.organization.size} libraries`);
    for (let step = 0; step < world.steps; step += 1) {
      await livingOn(simulation);
      if (hasSwaps && rare.chance(0.6)) await swapListing(simulation, rare, run);
      if (hasSlices && sliced.chance(0.5)) await runSlices(simulation, sliced, run);
      if (random.chance(0.1)) await pruneBetween(simulation, random.pick([DAY, 3 * DAY, 30 * DAY]));
      const plan = drawRun(world, random, service.organization.libraries());
      await run({ ...plan, weather: { ...plan.weather, cached } });
    }
    await calmDown(simulation, run);
    await finish(simulation);
  } catch (error) {
    if (!(error instanceof Violated)) wrong.push(`the simulation broke off: ${inspect(error)}`);
  } finally {
    await simulation.close();
    restoreLimits();
  }
  const runs = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { seed, wrong: [...new Set(wrong)], trace, runs, statuses };
}

/** Advances the time until the next run, with the edits in it. */
async function livingOn(simulation: Simulation): Promise<void> {
  const { random, world, edits } = simulation;
  const wait = Math.round(world.pollMs * random.pick([0.1, 0.5, 1, 1, 1, 1.5, 3]));
  const count = random.chance(0.4) ? 0 : random.pick([1, 1, 2, 3, 5]);
  let left = wait;
  for (let edit = 0; edit < count; edit += 1) {
    const isBurst = random.chance(0.4);
    const some = isBurst ? Math.min(left, random.below(20 * SECOND)) : random.below(left + 1);
    left -= some;
    await simulation.pass(some);
    edits.edit(undefined);
  }
  await simulation.pass(left);
}

/**
 * Edits and faults have stopped. The first run after the longest window has every dated edit, the second one what a
 * shrunk list withheld, the third one what the guards held; one after SIMCAT_FULL_EVERY has everything.
 */
async function calmDown(simulation: Simulation, run: Run): Promise<void> {
  const { world, edits, service, wrong } = simulation;
  await simulation.pass(LONGEST_WINDOW);
  await untilOk(simulation, [QUIET, QUIET, { ...QUIET, allowRemovals: true }], run);
  const uncertain = new Set([...edits.undated, ...service.lied]);
  wrong.push(...(await checkEqual(simulation, (key) => !uncertain.has(key), "dated edits")));
  await simulation.pass(Math.max(world.fullEveryMs, DAY));
  await untilOk(simulation, [QUIET, QUIET], run);
  wrong.push(...(await checkEqual(simulation, () => true, "all edits")), ...(await checkBookkeeping(simulation)));
  wrong.push(...(await recountEvents(simulation)), ...(await verifyEnd(simulation)));
}

async function finish(simulation: Simulation): Promise<void> {
  const { control, service, edits, world, wrong, time } = simulation;
  wrong.push(...(await checkHistories(control)));
  wrong.push(...service.mock.violations);
  const open = await control.query("SELECT FROM simcat.sync_runs WHERE status = 'running'");
  if (open.length > 0) wrong.push(`runs: ${open.length} rows say running when nothing runs`);
  const staged = await control.query("SELECT 1 FROM simcat.scenario_staging LIMIT 1");
  if (staged.length > 0) wrong.push("staging: something was left behind");
  if (world.dates === "none") return;
  const full = (2 * time.now()) / world.fullEveryMs;
  for (const [key, reads] of service.reads) {
    const causes = (edits.versions.get(key)?.length ?? 0) + (service.misled.get(key) ?? 0);
    const most = 16 * causes + full + 20;
    if (reads > most) wrong.push(`reads: ${key} was read ${reads} times for ${causes} causes`);
  }
}

/** The seed, the violations, and the end of the trace. */
export function formatFailure({ seed, wrong, trace }: SeedResult): string {
  const head = trace[0] ?? "";
  const tail = trace.slice(1).slice(-LINES);
  const left = trace.length - 1 - tail.length;
  return [
    `seed ${seed} fails; it plays again with: npm run simulate -- --seed ${seed} --verbose`,
    ...wrong.map((line) => `  WRONG ${line}`),
    head,
    ...(left > 0 ? [`… ${left} lines …`] : []),
    ...tail,
  ].join("\n");
}
