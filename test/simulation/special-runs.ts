import type { Random } from "../../src/mock/random.ts";
import type { LibraryKey } from "../../src/model.ts";
import { checkEqual } from "./check-equal.ts";
import type { PerformedRun } from "./perform-run.ts";
import { drawRun, NOBODY, QUIET, type RunPlan } from "./plan-run.ts";
import { keyOf, look } from "./reader.ts";
import { CALM } from "./sim-service.ts";
import type { Simulation } from "./simulation.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

/** Performs a run and checks all that must hold after it. */
export type Run = (plan: RunPlan) => Promise<PerformedRun>;

/** One library fails in many runs while others are edited; perhaps it gets another date meanwhile. */
export async function breakLibrary({ service, edits, pass }: Simulation, random: Random, run: Run): Promise<void> {
  const libraries = service.organization.libraries();
  if (libraries.length < 2) return;
  const library = random.pick(libraries);
  const broken = keyOf(library);
  const turns = random.between(5, 10);
  const editedAt = random.between(4, turns);
  for (let turn = 0; turn < turns; turn += 1) {
    if (turn === 0 || turn === editedAt) edits.redate(library);
    else edits.redate(random.pick(libraries));
    await run({ ...QUIET, weather: { ...CALM, broken } });
    await pass(random.pick([2 * MINUTE, 2 * MINUTE, 20 * MINUTE, HOUR, 7 * HOUR]));
  }
}

/** No content arrives in several runs; the next one asks for everything that failed. */
export async function endureOutage({ service, edits, pass }: Simulation, random: Random, run: Run): Promise<void> {
  const turns = random.between(3, 5);
  for (let turn = 0; turn < turns; turn += 1) {
    const libraries = service.organization.libraries();
    if (libraries.length === 0) return;
    for (let edit = random.below(3); edit > 0; edit -= 1) edits.redate(random.pick(libraries));
    await run({ ...QUIET, weather: { ...CALM, isDown: true } });
    await pass(random.pick([2 * MINUTE, 20 * MINUTE]));
  }
  await run(QUIET);
}

/** A run whose selection may have a known name, and has one that does not exist. */
export function drawUnknown({ service }: Simulation, random: Random): RunPlan {
  const known = service.organization.libraries().slice(0, random.below(2));
  const unknown = { owner: NOBODY, name: "nothing" };
  const selection = random.chance(0.5)
    ? { libraries: [...known.map(({ owner, name }) => ({ owner, name })), unknown], owners: [] }
    : { libraries: [], owners: [...known.map(({ owner }) => owner), unknown.owner] };
  return { ...QUIET, kind: random.pick(["sync", "backfill"]), selection };
}

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

/** The last content read of each library, by the database's clock in ms. */
async function readTimes({ control }: Simulation): Promise<Map<string, number>> {
  const rows = await control.query<LibraryKey & { at: Date | null }>(
    "SELECT owner, library_name AS name, content_read_at AS at FROM simcat.library_sync",
  );
  return new Map(rows.map((row) => [keyOf(row), row.at?.getTime() ?? 0]));
}

/**
 * Runs that are all stopped early, while some libraries are edited continuously. Each must first request the overdue
 * libraries, oldest content first; concurrent requests may be answered in any order.
 */
export async function interruptReads(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { world, service, edits, wrong } = simulation;
  const busy = service.organization.libraries().slice(0, random.between(1, 12));
  const stopAfterReads = random.between(1, 6);
  for (let turn = 0; turn < 5; turn += 1) {
    await simulation.pass(world.fullEveryMs / 2 + MINUTE);
    for (const library of busy) edits.redate(library);
    const times = await readTimes(simulation);
    const startedAt = simulation.now();
    const { heard } = await run({ ...QUIET, stopAfterReads });
    const endedAt = simulation.now();

    const asked = new Set(heard.content.keys());
    const timeOf = (key: string) => times.get(key) ?? 0;
    const overdue = [...(heard.listing?.keys ?? [])].filter((key) => timeOf(key) <= startedAt - world.fullEveryMs);
    const left = overdue.filter((key) => !asked.has(key));
    const youngest = Math.max(0, ...overdue.filter((key) => asked.has(key)).map(timeOf));
    const older = left.filter((key) => timeOf(key) < youngest);
    const isEarly = [...asked].some((key) => timeOf(key) > endedAt - world.fullEveryMs + MINUTE);
    if (isEarly && left.length > world.concurrency) {
      wrong.push(`order: ${heard.run} read what is not overdue, and left ${left.length} that are`);
    }
    if (older.length > world.concurrency) {
      wrong.push(`order: ${heard.run} read what is younger, and left ${older.length} that are older`);
    }
  }
  await untilOk(simulation, [QUIET, QUIET], run);
}

/** Another program alters rows; a `--restart` is stopped midway, and the next backfill must repair the rest. */
export async function interruptRestart(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { control, service, ledger, wrong } = simulation;
  await control.query(`UPDATE simcat.scenarios SET raw = raw || '{"altered": true}' WHERE removed_at IS NULL`);
  const sight = await look(control);
  for (const key of sight.keys()) service.lied.add(key);
  ledger.settle(sight);
  const backfill: RunPlan = { ...QUIET, kind: "backfill" };
  await run({ ...backfill, restart: true, stopAfterReads: random.between(1, 6) });
  await simulation.pass(MINUTE);
  if (random.chance(0.5)) await run(QUIET);
  await untilOk(simulation, [backfill, backfill], run);
  wrong.push(...(await checkEqual(simulation, () => true, "altered rows")));
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
