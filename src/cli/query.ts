import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { addAbortSignal } from "node:stream";
import { buffer as readAll } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { type Question, runQuery } from "../db/read/run-query.ts";
import { fileErrorReason, UsageError } from "../errors.ts";
import { csvFormat, jsonlFormat } from "../export/formats.ts";
import { createLinePrinter, createTablePrinter } from "../output/row-printers.ts";
import { printable } from "../printable.ts";
import { type DefineCommand, type JsonOptions, jsonOption, parseDurationOption, parseText } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, outputWidth, printText } from "./context.ts";
import { loadSettings } from "./load-settings.ts";

/** The options of a command that prints the rows of a query. */
export interface RowOptions extends JsonOptions {
  readonly csv?: boolean;
  readonly jsonl?: boolean;
}

export const withRowOptions = (command: Command): Command =>
  command
    .addOption(new Option("--csv", "print CSV").conflicts(["json", "jsonl"]))
    .addOption(jsonOption().conflicts("jsonl"))
    .addOption(new Option("--jsonl", "print one JSON object in each line"));

/** A table for people, unless an option names another format. `spare`: columns that a question of simcat's own may leave out. */
export function printerOf(
  context: Context,
  { csv, json = false, jsonl }: RowOptions,
  spare?: Readonly<Record<string, number>>,
): Question["openPrinter"] {
  if (csv || json || jsonl)
    return (columns) => createLinePrinter(columns, context.print, csv ? csvFormat(false) : jsonlFormat, json);
  const printTable = (text: string) => printText(context, text, spare ? undefined : []);
  return (columns) => createTablePrinter(columns, printTable, outputWidth(context), spare ?? {});
}

interface QueryOptions extends RowOptions {
  readonly file?: string;
  readonly timeout: string;
}

export const defineQuery: DefineCommand = (command, run) =>
  withRowOptions(
    command
      .argument("[SQL]", "one statement; the views of simcat_report need no schema")
      .option("--file <FILE>", "read the statement from this file; - is standard input", parseText)
      .option("--timeout <DURATION>", "the longest time that the query may take", "1m"),
  ).action(run(answerQuery));

/** In milliseconds; the limit of every statement of simcat. */
const MAX_TIMEOUT_MS = 900_000;

/** Exits with 0, also without a row. */
export async function answerQuery(context: Context, options: QueryOptions, text?: string): Promise<void> {
  const timeLimitMs = parseDurationOption("--timeout", options.timeout, "30s or 10m");
  if (timeLimitMs < 1 || timeLimitMs > MAX_TIMEOUT_MS) throw new UsageError("--timeout must be from 1ms to 15m");
  const sql = await readStatement(context, text, options.file);
  const config = loadSettings(context, { service: false, database: true });
  const onNotice = (text: string) => context.note(`simcat: ${printable(text)}`);
  const question = { sql, timeLimitMs, openPrinter: printerOf(context, options), onNotice };
  const { stop, unread } = context;
  const stopOrUnread = AbortSignal.any([stop, unread]);
  const answer = withDatabase(context, config, "require", (pool) => runQuery(pool, question, stopOrUnread));
  await answer.catch((error) => {
    if (stop.aborted || !unread.aborted) throw error;
  });
}

async function readStatement(context: Context, text: string | undefined, file: string | undefined): Promise<string> {
  if ((text === undefined) === (file === undefined)) {
    throw new UsageError("give the query either as SQL or with --file", {
      hint: 'such as simcat query "SELECT count(*) FROM libraries"',
    });
  }
  const sql = text ?? (await readStatementFile(context, file ?? ""));
  if (sql.trim() === "") throw new UsageError("the query is empty");
  return sql;
}

async function readStatementFile({ openInput, stop }: Context, path: string): Promise<string> {
  // Not as the file /dev/stdin, because a socket cannot be opened by its path.
  const read = async () => readAll(addAbortSignal(stop, path === "-" ? openInput() : createReadStream(path)));
  const bytes = await read().catch((error: unknown) => {
    stop.throwIfAborted();
    const source = path === "-" ? "standard input" : path;
    throw new UsageError(`the query cannot be read from ${source}: ${fileErrorReason(error)}`, { cause: error });
  });
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new UsageError("the query is not UTF-8 text", { hint: "save it in UTF-8" });
  // Without a byte order mark.
  return new TextDecoder().decode(bytes);
}
