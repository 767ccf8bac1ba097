import type { Random } from "../../src/mock/random.ts";
import type { PerformedRun } from "./perform-run.ts";
import { QUIET, type RunPlan } from "./plan-run.ts";
import { CALM } from "./sim-service.ts";
import type { Simulation } from "./simulation.ts";
import { MINUTE } from "./world.ts";

type Run = (plan: RunPlan) => Promise<PerformedRun>;

const FEWEST = 6;

/**
 * Changes the libraries by which the guard of removals measures a share, before anything else happens: the checks of removals
 * say what the last run may mark.
 */
export async function changeBase(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { service, wrong, pass } = simulation;
  if (service.organization.size < FEWEST) return;
  const change = random.pick([allowRemovals, listIncompletely, removeTwice]);
  const runCalmly = async (plan: RunPlan) => {
    if (wrong.length === 0) await run(plan);
    await pass(random.between(1, 10) * MINUTE);
  };
  await runCalmly(QUIET);
  await change(simulation, random, runCalmly);
}

type Change = (simulation: Simulation, random: Random, run: (plan: RunPlan) => Promise<void>) => Promise<void>;

/** Most of the libraries, or some, leave with permission; then some of the rest leave without. */
const allowRemovals: Change = async ({ service, edits, world }, random, run) => {
  const { size } = service.organization;
  edits.leave(Math.ceil(random.pick([0.3, 0.7]) * size));
  await run({ ...QUIET, allowRemovals: true });
  const left = service.organization.size;
  edits.leave(random.pick([1, Math.floor((world.maxRemovedPercent / 100) * left) + 1]));
  await run(QUIET);
};

/** Many new libraries are stored under a listing that is not complete; then too many of the old ones leave. */
const listIncompletely: Change = async ({ service, edits, world }, _, run) => {
  const { size } = service.organization;
  edits.join(3 * size);
  await run({ ...QUIET, weather: { ...CALM, isPaged: true } });
  edits.leave(Math.floor((world.maxRemovedPercent / 100) * size) + 1);
  await run(QUIET);
};

/** The most libraries that may leave do so, return, and leave again. */
const removeTwice: Change = async ({ service, edits, world }, _, run) => {
  const count = Math.floor((world.maxRemovedPercent / 100) * service.organization.size);
  for (let turn = 0; turn < 2; turn += 1) {
    const gone = edits.leave(Math.min(count, service.organization.size - 1));
    await run(QUIET);
    if (turn === 0) edits.comeBack(gone);
    await run(QUIET);
  }
};
