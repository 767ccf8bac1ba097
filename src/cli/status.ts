import { readStatus } from "../db/read/read-status.ts";
import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import { formatStatus, toStatusJson } from "../output/status.ts";
import { isSettled } from "../sync/rules/settle.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, outputWidth } from "./context.ts";
import { loadSettings } from "./settings.ts";

export const defineStatus: DefineCommand = (command, run) => command.addOption(jsonOption()).action(run(status));

/** Exits with 0, whatever the state is. */
export async function status(context: Context, { json }: JsonOptions): Promise<number> {
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", (pool, source) =>
    readStatus(pool, isSettled, context.stop, source),
  );
  context.print(json ? formatJson(toStatusJson(rows)) : formatStatus(rows, outputWidth(context)));
  return EXIT.ok;
}
