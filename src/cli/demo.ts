import type { Command } from "commander";
import { createCommand, type RunAction } from "./command.ts";
import type { Context } from "./context.ts";

export function demoCommand(run: RunAction): Command {
  return createCommand("demo", "try all of it on an embedded Postgres and a mock service", "simcat demo").action(
    run(demo),
  );
}

async function demo(context: Context): Promise<number> {
  const { runDemo } = await import("./run-demo.ts");
  return runDemo(context);
}
