import type { Command } from "commander";
import { type ActionRunner, createCommand } from "./command.ts";
import type { Context } from "./context.ts";

export function demoCommand(run: ActionRunner): Command {
  return createCommand("demo", "try all of it on an embedded Postgres and a mock service", "simcat demo").action(
    run(demo),
  );
}

async function demo(context: Context): Promise<number> {
  const { runDemo } = await import("./run-demo.ts");
  return runDemo(context);
}
