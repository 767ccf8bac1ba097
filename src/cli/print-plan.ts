import { createClock, type DatabaseClock, MACHINE_CLOCK } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { assertUsable, readSchemaState } from "../db/schema-state.ts";
import { readSnapshot } from "../db/transaction.ts";
import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import { formatPlan, toPlanJson } from "../output/plan.ts";
import { planRun } from "../sync/plan-run.ts";
import { findMissingEmbedded, withDatabase } from "./connections.ts";
import type { Context } from "./context.ts";
import { loadSelection, type RunOptions } from "./settings.ts";
import { withWatchedService } from "./show-progress.ts";

/** `sync --dry-run`: prints what a run would do and why. Takes no lease, migrates nothing, writes nothing. */
export async function printPlan(
  context: Context,
  { allowRemovals, json, ...options }: Omit<RunOptions, "restart">,
): Promise<number> {
  const { config, selection } = loadSelection(context, options);
  const plan = (pool: Pool | null, clock: DatabaseClock) =>
    withWatchedService(context, config, (service) => {
      const request = { selection, allowRemovals, backfillSince: null };
      return planRun({ service, clock, pool, settings: config }, request, context.stop);
    });
  const isMissing = (await findMissingEmbedded(context, config)) !== null;
  const planned = isMissing
    ? await plan(null, MACHINE_CLOCK)
    : await withDatabase(context, config, "any", async (pool) => {
        const clock = await createClock(pool, context.stop);
        return plan((await hasSchema(pool, context.stop)) ? pool : null, clock);
      });
  context.print(
    json
      ? formatJson(toPlanJson(planned, planned.verdict))
      : formatPlan(planned, planned.verdict, config.logLevel === "debug"),
  );
  return EXIT.ok;
}

/**
 * False if nothing was ever stored in this database.
 * @throws ConfigurationError if the schema is neither missing nor current
 */
async function hasSchema(pool: Pool, signal: AbortSignal): Promise<boolean> {
  const state = await readSnapshot(pool, "looking at the schema", readSchemaState, signal);
  if (state.kind === "behind" && state.version === 0) return false;
  assertUsable(state);
  return true;
}
