import type { Command } from "commander";
import { EXIT } from "../errors.ts";
import { type ActionRunner, createCommand, type JsonOptions, jsonOption } from "./command.ts";
import { type Context, outputWidth } from "./context.ts";

export function statusCommand(run: ActionRunner): Command {
  return createCommand("status", "show the last runs, freshness, failing libraries and rejects", "simcat status")
    .addOption(jsonOption())
    .action(run(status));
}

/** Exits with 0, whatever the state is. */
export async function status(context: Context, { json }: JsonOptions): Promise<number> {
  const { loadSettings } = await import("./settings.ts");
  const { withDatabase } = await import("./connections.ts");
  const { readStatus } = await import("../db/read/read-status.ts");
  const { isSettled } = await import("../sync/rules/settle.ts");
  const { formatStatus } = await import("../output/status.ts");
  const { toStatusJson } = await import("../output/status-json.ts");
  const { formatJson } = await import("../format.ts");

  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", (pool, source) =>
    readStatus(pool, isSettled, context.stop, source),
  );
  context.print(json ? formatJson(toStatusJson(rows)) : formatStatus(rows, outputWidth(context)));
  return EXIT.ok;
}
