import { hostname } from "node:os";
import { openClock } from "../db/clock.ts";
import type { Pool } from "../db/connect.ts";
import { type Lease, withLease } from "../db/lease.ts";
import { countPrunable, type PrunedRows, prune as pruneRows, readCutoff } from "../db/prune/prune.ts";
import { EXIT, UsageError } from "../errors.ts";
import { formatJson, plural } from "../format.ts";
import { formatPrune, toPruneJson } from "../report/prune.ts";
import { DAY_MS, parseDuration } from "../units.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";

export interface PruneOptions {
  readonly olderThan: string;
  readonly dryRun: boolean;
  readonly json: boolean;
}

/** The guard of removals counts those of the last 24 hours, and the libraries live in them, from the history. */
const GUARDED_MS = DAY_MS;

export async function prune(context: Context, { olderThan, dryRun, json }: PruneOptions): Promise<number> {
  const olderThanMs = parseAge(olderThan);
  const config = loadSettings(context, { service: false, database: true });
  if (olderThanMs < GUARDED_MS) {
    context.note(
      `simcat: the guard of removals judges by the history of the last 24 h; what is younger than that and pruned, it no longer sees (--older-than ${olderThan})`,
    );
  }
  const work = async (pool: Pool) => {
    const cutoff = await readCutoff(pool, olderThanMs, context.stop);
    const rows = await (dryRun ? countPrunable(pool, cutoff, context.stop) : pruneUnderLease(context, pool, cutoff));
    return { dryRun, olderThanMs, cutoff, rows };
  };
  const report = await withDatabase(context, config, "require", work);
  context.print(json ? formatJson(toPruneJson(report)) : formatPrune(report));
  return EXIT.ok;
}

function parseAge(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) {
    throw new UsageError(`--older-than ${JSON.stringify(text)} is no duration; write it as 90d, 36h or 2000m`);
  }
  return ms;
}

async function pruneUnderLease({ terminal, draw, stop }: Context, pool: Pool, cutoff: Date): Promise<PrunedRows> {
  const tell = (rows: number) => {
    if (terminal.isErr) draw(`\r${plural(rows, "row")} deleted\x1b[K`);
  };
  const work = (lease: Lease) => pruneRows({ pool, lease, cutoff, tell }, AbortSignal.any([stop, lease.lost]));
  try {
    return await withLease(pool, await openClock(pool, stop), `${hostname()}:${process.pid} prune`, work, stop);
  } finally {
    if (terminal.isErr) draw("\r\x1b[K");
  }
}
