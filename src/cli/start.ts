import type { Command } from "commander";
import { type ActionRunner, createCommand } from "./command.ts";
import type { Context } from "./context.ts";

export function startCommand(run: ActionRunner): Command {
  const description = "run as a worker: sync on a schedule, health and metrics over HTTP";
  return createCommand("start", description, "SIMCAT_SCHEDULE='*/5 * * * *' simcat start").action(run(start));
}

export async function start(context: Context): Promise<number> {
  const { startWorker } = await import("./start-worker.ts");
  return startWorker(context);
}
