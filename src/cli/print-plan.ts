import { createClock, type DatabaseClock, MACHINE_CLOCK } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { assertUsable, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { formatJson } from "../report/json.ts";
import { formatPlan, toPlanJson } from "../report/plan.ts";
import { prepare } from "../sync/prepare.ts";
import { parseSelection } from "../sync/rules/selection.ts";
import type { Context } from "./context.ts";
import { findMissingEmbedded } from "./embedded.ts";
import type { SyncOptions } from "./run.ts";
import { loadServiceSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";
import { withService } from "./with-service.ts";

/** `sync --dry-run`: what a run would do and why. Takes no lease, migrates nothing, writes nothing. */
export async function printPlan(context: Context, { library, owner, allowRemovals, json }: SyncOptions): Promise<void> {
  const selection = parseSelection(library, owner);
  const config = loadServiceSettings(context);
  const plan = (pool: Pool | null, clock: DatabaseClock) =>
    withService(context, config, {}, (service) =>
      prepare({ service, clock, pool }, { selection, allowRemovals, backfillSince: null }, config, context.stop),
    );
  const isMissing = (await findMissingEmbedded(context, config)) !== null;
  const prepared = isMissing
    ? await plan(null, MACHINE_CLOCK)
    : await withDatabase(context, config, "any", async (pool) => {
        const clock = await createClock(pool, context.stop);
        return plan(await storedIn(pool, context.stop), clock);
      });
  context.print(json ? formatJson(toPlanJson(prepared)) : formatPlan(prepared));
}

/** The pool, or null where nothing was ever stored. */
async function storedIn(pool: Pool, signal: AbortSignal): Promise<Pool | null> {
  const state = await readSnapshot(pool, "looking at the schema", readSchemaState, signal);
  if (state.kind === "behind" && state.version === 0) return null;
  assertUsable(state);
  return pool;
}
