import { createRandom } from "../../src/mock/random.ts";
import { checkBookkeeping } from "./check-bookkeeping.ts";
import { checkCounts } from "./check-counts.ts";
import { checkDrift } from "./check-drift.ts";
import { checkEnding } from "./check-ending.ts";
import { checkEqual } from "./check-equal.ts";
import { checkPoison } from "./check-poison.ts";
import { openRemovalLog, type RemovalLog } from "./check-removals.ts";
import { checkSwaps } from "./check-swaps.ts";
import { checkTotals } from "./check-totals.ts";
import { checkHistories, remember } from "./histories.ts";
import { drawUnknown, interruptReads, interruptRestart, swapListing } from "./interrupted-runs.ts";
import { type Performed, perform, resetRuns } from "./perform.ts";
import { drawRun, QUIET, type RunPlan } from "./plan-run.ts";
import { pruneBetween } from "./prune-between.ts";
import { look, type Seen } from "./reader.ts";
import { type Place, type Stage, setStage } from "./stage.ts";
import { verifyEnd } from "./verify-end.ts";
import { DAY, HOUR, MINUTE, SECOND } from "./world.ts";

/** The outcome of a seed. */
export interface Played {
  readonly seed: number;
  /** Empty if every invariant held. */
  readonly wrong: readonly string[];
  readonly trace: readonly string[];
  readonly runs: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Longer than further edits can carry any text, with the margin: a day, the autumn's hour, two minutes. */
const LONGEST_WINDOW = 25 * HOUR + 2 * MINUTE + SECOND;

/** Plays one seed from an empty database to the end; the same seed always plays the same. */
export async function play(seed: number, place: Place): Promise<Played> {
  resetRuns();
  const stage = await setStage(seed, place);
  const statuses: Record<string, number> = {};
  const removals = openRemovalLog(stage.world.maxRemovedPercent);
  // Drawn separately, so that the other events of a seed do not depend on it.
  const rare = createRandom(seed + 1_000_003);
  const hasSwaps = rare.chance(0.25);
  const run = async (plan: RunPlan) => {
    const before = await look(stage.place.control);
    const performed = await perform(stage, plan);
    for (const { ended } of [performed, ...performed.others]) {
      statuses[ended.status] = (statuses[ended.status] ?? 0) + 1;
    }
    await afterRun(stage, removals, performed, before);
    return performed;
  };
  try {
    stage.note(`seed ${seed}: ${JSON.stringify(stage.world)}, ${stage.service.organization.size} libraries`);
    for (let step = 0; step < stage.world.steps && stage.wrong.length === 0; step += 1) {
      await livingOn(stage);
      if (hasSwaps && rare.chance(0.6)) await swapListing(stage, rare, run);
      if (rare.chance(0.05)) await run(drawUnknown(stage, rare));
      if (stage.random.chance(0.1)) await pruneBetween(stage, stage.random.pick([DAY, 3 * DAY, 30 * DAY]));
      await run(drawRun(stage.world, stage.random, stage.service.organization.libraries()));
    }
    if (stage.wrong.length === 0) await calmDown(stage, run);
    if (stage.wrong.length === 0 && rare.chance(0.3)) await interruptReads(stage, rare, run);
    if (stage.wrong.length === 0 && rare.chance(0.15)) await interruptRestart(stage, rare, run);
    if (stage.wrong.length === 0) await finish(stage);
  } catch (error) {
    stage.wrong.push(
      `the simulation broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  } finally {
    await stage.close();
  }
  const runs = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { seed, wrong: [...new Set(stage.wrong)], trace: stage.trace, runs, statuses };
}

/** Advances the time until the next run, with the edits in it. */
async function livingOn(stage: Stage): Promise<void> {
  const { random, world, edits } = stage;
  const wait = Math.round(world.pollMs * random.pick([0.1, 0.5, 1, 1, 1, 1.5, 3]));
  const count = random.chance(0.4) ? 0 : random.pick([1, 1, 2, 3, 5]);
  let left = wait;
  for (let edit = 0; edit < count; edit += 1) {
    const isBurst = random.chance(0.4);
    const some = isBurst ? Math.min(left, random.below(20 * SECOND)) : random.below(left + 1);
    left -= some;
    await stage.pass(some);
    edits.edit(undefined);
  }
  await stage.pass(left);
}

async function afterRun(
  stage: Stage,
  removals: RemovalLog,
  performed: Performed,
  before: ReadonlyMap<string, Seen>,
): Promise<void> {
  const { place, ledger, wrong } = stage;
  const sight = await look(place.control);
  wrong.push(...ledger.check(sight));
  wrong.push(...removals.check(sight, performed, stage.now()));
  wrong.push(...(await checkEnding(stage, performed, sight)));
  wrong.push(...(await checkCounts(stage, performed)));
  wrong.push(...checkDrift(performed, before, sight), ...(await checkSwaps(stage, performed)));
  wrong.push(...(await checkPoison(stage, performed, sight)));
  wrong.push(...(await checkTotals(stage)));
  ledger.settle(sight);
  await remember(place.control);
}

/**
 * Edits and faults have stopped. The first run after the longest window has every dated edit, the second one what a
 * shrunk list withheld, the third one what the guards held; one after SIMCAT_FULL_EVERY has everything.
 */
async function calmDown(stage: Stage, run: (plan: RunPlan) => Promise<Performed>): Promise<void> {
  const { world, edits, service, wrong } = stage;
  const untilOk = async (plans: readonly RunPlan[]) => {
    const statuses: string[] = [];
    const left = [...plans];
    for (let plan = left.shift(); plan !== undefined; plan = left.shift()) {
      const { status, report } = (await run(plan)).ended;
      if (status === "ok") return;
      statuses.push(status);
      await stage.pass(MINUTE);
      // An edit that took a field from all of a library's scenarios looks like drift until the service sends it again.
      const drifted = (report?.failures ?? []).filter(({ code }) => code === "drift");
      if (drifted.length === 0 || statuses.length > plans.length) continue;
      for (const { key } of drifted) edits.restoreFields(key);
      await stage.pass(LONGEST_WINDOW);
      left.push(QUIET);
    }
    wrong.push(`ok in the end: in calm weather ${statuses.length} runs ended as ${statuses.join(", ")}`);
  };
  await stage.pass(LONGEST_WINDOW);
  await untilOk([QUIET, QUIET, { ...QUIET, allowRemovals: true }]);
  const uncertain = new Set([...edits.undated, ...service.lied]);
  wrong.push(...(await checkEqual(stage, (key) => !uncertain.has(key), "dated edits")));
  if (wrong.length > 0) return;
  await stage.pass(Math.max(world.fullEveryMs, DAY));
  await untilOk([QUIET, QUIET]);
  wrong.push(...(await checkEqual(stage, () => true, "all edits")), ...(await checkBookkeeping(stage)));
  if (wrong.length === 0) wrong.push(...(await verifyEnd(stage)));
}

async function finish(stage: Stage): Promise<void> {
  const { place, service, edits, world, wrong, time } = stage;
  wrong.push(...(await checkHistories(place.control)));
  wrong.push(...service.mock.violations, ...service.violations);
  const open = await place.control.query<{ id: number }>("SELECT id FROM simcat.sync_runs WHERE status = 'running'");
  if (open.length > 0) wrong.push(`runs: ${open.length} rows say running when nothing runs`);
  const staged = await place.control.query("SELECT 1 FROM simcat.scenario_staging LIMIT 1");
  if (staged.length > 0) wrong.push("staging: something was left behind");
  if (world.dates === "none") return;
  const full = (2 * time.now()) / world.fullEveryMs;
  for (const [key, reads] of service.reads) {
    const causes = 1 + (edits.changes.get(key) ?? 0) + (service.misled.get(key) ?? 0);
    const most = 16 * causes + full + 20;
    if (reads > most) wrong.push(`reads: ${key} was read ${reads} times for ${causes} causes`);
  }
}
