import { sleep } from "../async.ts";
import { readStatus, type StatusRows } from "../db/read/read-status.ts";
import { UsageError } from "../errors.ts";
import { formatStatus, toStatusJson } from "../output/status.ts";
import { widthOf } from "../output/table.ts";
import { wrapText } from "../output/wrap.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, outputLook, outputWidth, printJson, printText } from "./context.ts";
import { loadSettings } from "./load-settings.ts";

const WATCH_MS = 2_000;
/** Moves the cursor of a terminal to its upper left corner, and clears what follows. */
const CLEAR = "\x1b[H\x1b[J";

export const defineStatus: DefineCommand = (command, run) =>
  command
    .addOption(jsonOption())
    .option("-w, --watch", "show it again every two seconds, until Ctrl-C")
    .action(run(status));

/** Exits with 0, whatever the state is. */
export async function status(context: Context, { json, watch }: JsonOptions & { readonly watch?: boolean }) {
  const { print, stop, terminal } = context;
  if (watch && (json || !terminal.isOut))
    throw new UsageError("--watch redraws a terminal", { hint: "for programs, repeat simcat status --json" });
  const config = loadSettings(context, { service: false, database: true });
  await withDatabase(context, config, "require", async (pool, source) => {
    const read = () => readStatus(pool, source, stop);
    const format = (rows: StatusRows) => formatStatus(rows, outputWidth(context), outputLook(context));
    if (json) printJson(context, toStatusJson(await read()));
    else if (!watch) printText(context, format(await read()));
    else
      try {
        while (!stop.aborted) {
          print(CLEAR + fitScreen(format(await read()), terminal));
          await sleep(WATCH_MS, stop);
        }
      } catch (error) {
        // The first stop signal is the normal end.
        if (!stop.aborted) throw error;
      }
  });
}

/** The first lines of a text that fit on a terminal, above the cursor, and the last one, which says what to do. */
function fitScreen(text: string, { columns, rows }: Context["terminal"]): string {
  const wrap = (part: string) => wrapText(part, columns).split("\n");
  // A word that is wider than the terminal takes several rows.
  const heightOf = (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  const [lines, last] = [wrap(text), wrap(text.slice(text.lastIndexOf("\n") + 1))];
  if (heightOf(lines) < rows) return lines.join("\n");
  const room = rows - 2 - heightOf(last);
  const fitting = lines.filter((_, index) => heightOf(lines.slice(0, index + 1)) <= room);
  return [...fitting, "…", ...last].join("\n");
}
