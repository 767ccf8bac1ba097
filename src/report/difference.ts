import type { ColumnDifference } from "../db/read/read-library-rows.ts";
import { printable } from "../printable.ts";
import type { DifferenceKind, LibraryDifference, ScenarioDifferences } from "../verify/findings.ts";
import { plural } from "./amounts.ts";
import { truncate } from "./width.ts";

/** Columns of the terminal that a value gets. */
const WIDEST = 40;
/** Scenarios whose columns are shown, and ids that are named of those that one side lacks. */
const SHOWN = 3;

const WHOLE: Readonly<Record<Exclude<DifferenceKind, "content">, string>> = {
  missing: "is listed and was never stored",
  removed: "is listed and marked as removed",
  unlisted: "is stored and not listed",
};

const LACKED: Readonly<Record<Exclude<DifferenceKind, "content">, string>> = {
  missing: "not stored",
  removed: "marked as removed",
  unlisted: "stored and not in the list",
};

/** Where a library and its rows differ, on one line: `column: stored → service`. */
export function formatDifference({ kind, columns, scenarios }: LibraryDifference): string {
  if (kind !== "content") return WHOLE[kind];
  return [...columns.map(formatColumn), ...formatContent(scenarios), ...formatLacks(scenarios)].join("; ");
}

function formatContent({ examples, counts }: ScenarioDifferences): string[] {
  const shown = examples.filter(({ kind }) => kind === "content").slice(0, SHOWN);
  const parts = shown.map(({ id, columns }) => `scenario ${id} ${columns.map(formatColumn).join(", ")}`);
  const more = counts.content - shown.length;
  return more > 0 ? [...parts, `${plural(more, "other scenario")} too`] : parts;
}

function formatLacks({ examples, counts }: ScenarioDifferences): string[] {
  return (["missing", "removed", "unlisted"] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => {
      const ids = examples.filter((one) => one.kind === kind).map(({ id }) => String(id));
      const named = [...ids.slice(0, SHOWN), ...(counts[kind] > Math.min(ids.length, SHOWN) ? ["…"] : [])];
      return `${plural(counts[kind], "scenario")} ${LACKED[kind]} (${named.join(", ")})`;
    });
}

function formatColumn({ column, stored, service }: ColumnDifference): string {
  const format = (text: string | null) => (text === null ? "NULL" : formatValue(column, text));
  return `${column}: ${format(stored)} → ${format(service)}`;
}

const JSON_COLUMNS = ["listed", "metadata", "raw"];

/** Texts with their quotes, since a space at an end counts. */
function formatValue(column: string, text: string): string {
  return truncate(printable(JSON_COLUMNS.includes(column) ? text : JSON.stringify(text)), WIDEST);
}
