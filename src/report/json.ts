import { printableLines } from "../printable.ts";

/** Data for machines that is harmless on a terminal too: what `printable` writes in its place is an escape of JSON's own. */
export function formatJson(value: unknown): string {
  return printableLines(JSON.stringify(value, null, 2));
}
