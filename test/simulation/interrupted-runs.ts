import type { Random } from "../../src/mock/random.ts";
import { changeLibrary } from "../support/mock/library.ts";
import { checkEqual } from "./check-equal.ts";
import type { PerformedRun } from "./perform-run.ts";
import { drawRun, NOBODY, QUIET, type RunPlan } from "./plan-run.ts";
import { keyOf, look } from "./reader.ts";
import type { Simulation } from "./simulation.ts";
import { MINUTE } from "./world.ts";

type Run = (plan: RunPlan) => Promise<PerformedRun>;

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
  const { world, edits, service, wrong } = simulation;
  edits.swap(world.maxRemovedPercent / 100 + 0.15);
  await run(random.chance(0.5) ? QUIET : drawRun(world, random, service.organization.libraries()));
  await simulation.pass(random.below(world.pollMs));
  if (wrong.length === 0) await run(QUIET);
}

/** Runs of two or three slices, each with its own weather and accidents, most of them beside a sibling. */
export async function runSlices(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { world, service, wrong } = simulation;
  const count = random.between(2, 3);
  for (let turn = 0; turn < count && wrong.length === 0; turn += 1) {
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
async function readTimes({ server }: Simulation): Promise<Map<string, number>> {
  const rows = await server.control.query<{ owner: string; name: string; at: Date | null }>(
    "SELECT owner, library_name AS name, content_read_at AS at FROM simcat.library_sync",
  );
  return new Map(rows.map(({ owner, name, at }) => [keyOf(owner, name), at?.getTime() ?? 0]));
}

/**
 * Runs that are all stopped early, while some libraries are edited continuously. Each must first request the overdue
 * libraries, oldest content first; concurrent requests may be answered in any order.
 */
export async function interruptReads(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { world, service, dateSource, wrong } = simulation;
  const busy = service.organization.libraries().slice(0, random.between(1, 12));
  const stopAfterReads = random.between(1, 6);
  for (let turn = 0; turn < 5 && wrong.length === 0; turn += 1) {
    await simulation.pass(world.fullEveryMs / 2 + MINUTE);
    for (const { owner, name } of busy) {
      changeLibrary(service.organization, owner, name, { lastModified: dateSource.text(dateSource.now()) });
    }
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
  if (wrong.length === 0) await untilOk(simulation, [QUIET, QUIET], run);
}

/** Another program alters rows; a `--restart` is stopped midway, and the next backfill must repair the rest. */
export async function interruptRestart(simulation: Simulation, random: Random, run: Run): Promise<void> {
  const { server, service, ledger, wrong } = simulation;
  await server.control.query(`UPDATE simcat.scenarios SET raw = raw || '{"altered": true}' WHERE removed_at IS NULL`);
  const sight = await look(server.control);
  for (const key of sight.keys()) service.lied.add(key);
  ledger.settle(sight);
  const backfill: RunPlan = { ...QUIET, kind: "backfill" };
  await run({ ...backfill, restart: true, stopAfterReads: random.between(1, 6) });
  await simulation.pass(MINUTE);
  if (random.chance(0.5)) await run(QUIET);
  await untilOk(simulation, [backfill, backfill], run);
  if (wrong.length === 0) wrong.push(...(await checkEqual(simulation, () => true, "altered rows")));
}

async function untilOk(simulation: Simulation, plans: readonly RunPlan[], run: Run): Promise<void> {
  const statuses: string[] = [];
  for (const plan of plans) {
    const { status } = (await run(plan)).ended;
    if (status === "ok") return;
    statuses.push(status);
    await simulation.pass(MINUTE);
  }
  simulation.wrong.push(`ok in the end: after interrupted runs ${plans.length} runs ended as ${statuses.join(", ")}`);
}
