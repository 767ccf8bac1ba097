import { type Command, Option } from "commander";
import { csvPrinter, jsonlPrinter, jsonPrinter, type RowPrinter, tablePrinter } from "../output/rows.ts";
import { type JsonOptions, jsonOption } from "./command.ts";
import { type Context, outputWidth } from "./context.ts";

/** The options of a command that prints the rows of a query. */
export interface RowOptions extends JsonOptions {
  readonly csv: boolean;
  readonly jsonl: boolean;
}

export const withRowOptions = (command: Command): Command =>
  command
    .addOption(new Option("--csv", "print CSV").default(false).conflicts(["json", "jsonl"]))
    .addOption(jsonOption().conflicts("jsonl"))
    .addOption(new Option("--jsonl", "print one JSON object in each line").default(false));

/** A table for people, unless an option names another format. */
export function printerOf(context: Context, { csv, json, jsonl }: RowOptions): RowPrinter {
  const { print } = context;
  if (csv) return csvPrinter(print);
  if (jsonl) return jsonlPrinter(print);
  return json ? jsonPrinter(print) : tablePrinter(print, outputWidth(context));
}
