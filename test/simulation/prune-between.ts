import { connect, disconnect } from "../../src/db/connect.ts";
import { countPrunable, planPrune, pruneUnderLease } from "../../src/db/prune.ts";
import { copyText } from "./copies.ts";
import { forgetBefore } from "./histories.ts";
import { look } from "./reader.ts";
import type { Simulation } from "./simulation.ts";
import { HOUR, MINUTE } from "./world.ts";

const never = new AbortController().signal;

/** Deletes rows that ended before this age, as `simcat prune` does, and checks that no other rows were deleted. */
export async function pruneBetween(simulation: Simulation, olderThanMs: number): Promise<void> {
  const { control, ledger, wrong, note } = simulation;
  // Any lease that a run left has expired.
  await simulation.pass(MINUTE);
  const before = await look(control);
  const pool = await connect(control.url, {}, never);
  try {
    const plan = await planPrune(pool, olderThanMs, false, never);
    const { cutoff } = plan;
    const foretold = await countPrunable(pool, plan, never);
    const pruned = await pruneUnderLease(pool, plan, () => {}, never);
    note(`  prune of what is older than ${olderThanMs / HOUR} h: ${JSON.stringify(pruned)}`);
    if (JSON.stringify(pruned) !== JSON.stringify(foretold)) {
      wrong.push(`prune: foretold ${JSON.stringify(foretold)}, deleted ${JSON.stringify(pruned)}`);
    }
    const after = await look(control);
    const [record] = await control.query<{ cutoff: Date | null }>("SELECT max(cutoff) AS cutoff FROM simcat.prunes");
    const { libraries, library_history, scenarios, scenario_history } = pruned;
    if (
      libraries + library_history + scenarios + scenario_history > 0 &&
      !(record?.cutoff && record.cutoff >= cutoff)
    ) {
      wrong.push(`prune: the cutoff ${cutoff.toISOString()} is not recorded`);
    }
    for (const [key, { removedAt, copy }] of before) {
      const isOld = removedAt !== null && removedAt < cutoff;
      const left = after.get(key);
      if (isOld !== (left === undefined)) wrong.push(`prune: ${key} is ${isOld ? "still there" : "gone"}`);
      if (left !== undefined && copyText(left.copy) !== copyText(copy)) wrong.push(`prune: ${key} is not as it was`);
    }
    await forgetBefore(control, cutoff);
    ledger.settle(after);
  } finally {
    await disconnect(pool);
  }
}
