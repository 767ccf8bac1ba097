import { inspect } from "node:util";
import { createValueParsers } from "../../src/parse-values.ts";
import { verifyStored } from "../../src/verify/verify-stored.ts";
import { EVERYTHING } from "../support/listing.ts";
import { CALM } from "./sim-service.ts";
import type { Simulation } from "./simulation.ts";
import { openWorkerService } from "./worker.ts";

const RUN = "verify";
const never = new AbortController().signal;

/** Runs `simcat verify` at the end: compares column by column, and writes nothing. */
export async function verifyEnd(simulation: Simulation): Promise<string[]> {
  const { world, service, ledger, pools, scheduler, time } = simulation;
  service.expect(ledger.open(RUN, false, EVERYTHING), CALM);
  const wrong: string[] = [];
  const live = async () => {
    const client = openWorkerService(world, service.mock.url, RUN);
    scheduler.begin();
    const gated = await pools.take();
    gated.lend({
      worker: RUN,
      interfere: async () => ({ kind: "none" }),
      onCommit: async (hasWritten) => void (hasWritten && wrong.push("verify: it wrote something")),
      onDeath: async () => {},
    });
    scheduler.end();
    const { concurrency, fullEveryMs } = world;
    const tools = {
      service: client,
      pool: gated.pool,
      source: "tables",
      parsers: createValueParsers("UTC"),
      onEvent: () => {},
      settings: { concurrency, fullEveryMs, serviceTimezone: "UTC" },
    } as const;
    const report = await verifyStored(tools, EVERYTHING, never);
    await client.close();
    pools.giveBack(gated);
    return report;
  };
  const report = await scheduler.drive(time.as(RUN, live));
  if (!report.agrees) wrong.push(`verify: ${inspect(report, { depth: 6 })}`);
  return wrong;
}
