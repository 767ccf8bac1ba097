import type { Random } from "../../src/mock/random.ts";
import type { PerformedRun } from "./perform-run.ts";
import { QUIET, type RunPlan } from "./plan-run.ts";
import { keyOf } from "./reader.ts";
import { CALM } from "./sim-service.ts";
import type { Simulation } from "./simulation.ts";
import { HOUR, MINUTE } from "./world.ts";

type Run = (plan: RunPlan) => Promise<PerformedRun>;

/** One library fails in many runs while others are edited; perhaps it gets another date meanwhile. */
export async function breakLibrary(
  { service, edits, wrong, pass }: Simulation,
  random: Random,
  run: Run,
): Promise<void> {
  const libraries = service.organization.libraries();
  if (libraries.length < 2) return;
  const { owner, name } = random.pick(libraries);
  const broken = keyOf(owner, name);
  const turns = random.between(5, 10);
  const editedAt = random.between(4, turns);
  for (let turn = 0; turn < turns && wrong.length === 0; turn += 1) {
    if (turn === 0 || turn === editedAt) edits.redate({ owner, name });
    else edits.redate(random.pick(libraries));
    await run({ ...QUIET, weather: { ...CALM, broken } });
    await pass(random.pick([2 * MINUTE, 2 * MINUTE, 20 * MINUTE, HOUR, 7 * HOUR]));
  }
}

/** No content arrives in several runs; the next one asks for everything that failed. */
export async function endureOutage(
  { service, edits, wrong, pass }: Simulation,
  random: Random,
  run: Run,
): Promise<void> {
  const turns = random.between(3, 5);
  for (let turn = 0; turn < turns && wrong.length === 0; turn += 1) {
    const libraries = service.organization.libraries();
    if (libraries.length === 0) return;
    for (let edit = random.below(3); edit > 0; edit -= 1) edits.redate(random.pick(libraries));
    await run({ ...QUIET, weather: { ...CALM, isDown: true } });
    await pass(random.pick([2 * MINUTE, 20 * MINUTE]));
  }
  if (wrong.length === 0) await run(QUIET);
}
