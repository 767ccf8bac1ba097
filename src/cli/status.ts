import { readStatus } from "../db/read/read-status.ts";
import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import { formatStatus } from "../report/status.ts";
import { toStatusJson } from "../report/status-json.ts";
import { isSettled } from "../sync/rules/settle.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";

/** How the copy is: runs, freshness, what fails, what was put aside. Answers 0 whatever it has to tell. */
export async function status(context: Context, { json }: { readonly json: boolean }): Promise<number> {
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", (pool) => readStatus(pool, isSettled, context.stop));
  const { isOut, columns } = context.terminal;
  // What goes into a file or a pipe is not cut.
  context.print(json ? formatJson(toStatusJson(rows)) : formatStatus(rows, isOut ? columns : Number.POSITIVE_INFINITY));
  return EXIT.ok;
}
