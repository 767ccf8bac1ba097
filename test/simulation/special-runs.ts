import type { Random } from "../../src/mock/random.ts";
import type { PerformedRun } from "./perform-run.ts";
import { drawRun, QUIET, type RunPlan } from "./plan-run.ts";
import type { Simulation } from "./simulation.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

/** Performs a run and checks all that must hold after it. */
export type Run = (plan: RunPlan) => Promise<PerformedRun>;

/** Replaces more libraries than the guard allows; the new ones outnumber them when the next run lists the same. */
export async function swapListing(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { world, edits, service } = simulation;
  edits.swap(world.maxRemovedPercent / 100 + 0.15);
  await run(random.chance(0.5) ? QUIET : drawRun(world, random, service.organization.libraries()));
  await simulation.pass(random.below(world.pollMs));
  await run(QUIET);
}

/** Runs of two or three slices, each with its own weather and accidents, most of them beside a sibling. */
export async function runSlices(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { world, service } = simulation;
  const count = random.between(2, 3);
  for (let turn = 0; turn < count; turn += 1) {
    const plan = drawRun(world, random, service.organization.libraries());
    const joined = random.chance(0.7) ? [{ at: random.below(30), what: { kind: "joined" } as const }] : [];
    await run({
      ...plan,
      allowRemovals: false,
      selection: { libraries: [], owners: [], slice: { index: random.between(1, count), count } },
      accidents: [...joined, ...plan.accidents],
    });
    await simulation.pass(random.below(MINUTE));
  }
}

/** Longer than further edits can carry any text, with the margin: a day, the autumn's hour, two minutes. */
export const LONGEST_WINDOW = 25 * HOUR + 2 * MINUTE + SECOND;

/** Performs these runs in calm weather, and reports if none of them ends as ok. */
export async function untilOk(simulation: Simulation, plans: readonly RunPlan[], run: Run): Promise<void> {
  const statuses: string[] = [];
  const left = [...plans];
  for (let plan = left.shift(); plan !== undefined; plan = left.shift()) {
    const { status, summary } = (await run(plan)).ended;
    if (status === "ok") return;
    statuses.push(status);
    await simulation.pass(MINUTE);
    // An edit that took a field from all of a library's scenarios looks like drift until the service sends it again.
    const drifted = (summary?.failures ?? []).filter(({ code }) => code === "drift");
    if (drifted.length === 0 || statuses.length > plans.length) continue;
    for (const { key } of drifted) simulation.edits.restoreFields(key);
    await simulation.pass(LONGEST_WINDOW);
    left.push(QUIET);
  }
  simulation.wrong.push(`ok in the end: in calm weather ${statuses.length} runs ended as ${statuses.join(", ")}`);
}
