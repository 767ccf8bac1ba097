import type { ColumnDifference } from "../db/read/compare-rows.ts";
import { formatInstant, plural } from "../format.ts";
import { printable } from "../printable.ts";
import type { DifferenceKind, LibraryDifference, ScenarioDifferences } from "../verify/findings.ts";
import { truncate } from "./text-width.ts";

const MAX_VALUE_COLUMNS = 40;
/** Scenarios whose columns are printed, and ids that are printed of scenarios that one side lacks. */
const MAX_EXAMPLES = 3;

const LIBRARY_TEXTS: Readonly<Record<Exclude<DifferenceKind, "content">, string>> = {
  missing: "is listed and was never stored",
  removed: "is listed and marked as removed",
  unlisted: "is stored and not listed",
};

const SCENARIO_TEXTS: Readonly<Record<Exclude<DifferenceKind, "content">, string>> = {
  missing: "not stored",
  removed: "marked as removed",
  unlisted: "stored and not in the list",
};

/** The differences of a library and its rows on one line, as `column: stored → service`. */
export function formatDifference({ kind, columns, scenarios, removalHeldAt }: LibraryDifference): string {
  if (removalHeldAt !== null)
    return `${LIBRARY_TEXTS.unlisted}; a guard has held its removal since ${formatInstant(removalHeldAt)}`;
  if (kind !== "content") return LIBRARY_TEXTS[kind];
  return [...columns.map(formatColumn), ...formatContent(scenarios), ...formatOneSided(scenarios)].join("; ");
}

function formatContent({ examples, counts }: ScenarioDifferences): string[] {
  const shown = examples.filter(({ kind }) => kind === "content").slice(0, MAX_EXAMPLES);
  const parts = shown.map(({ id, columns }) => `scenario ${id} ${columns.map(formatColumn).join(", ")}`);
  const more = counts.content - shown.length;
  return more > 0 ? [...parts, `${plural(more, "other scenario")} too`] : parts;
}

/** The scenarios that only one side has. */
function formatOneSided({ examples, counts }: ScenarioDifferences): string[] {
  return (["missing", "removed", "unlisted"] as const)
    .filter((kind) => counts[kind] > 0)
    .map((kind) => {
      const ids = examples.filter((example) => example.kind === kind).map(({ id }) => String(id));
      const rest = counts[kind] > Math.min(ids.length, MAX_EXAMPLES) ? ["…"] : [];
      const named = [...ids.slice(0, MAX_EXAMPLES), ...rest];
      return `${plural(counts[kind], "scenario")} ${SCENARIO_TEXTS[kind]} (${named.join(", ")})`;
    });
}

function formatColumn({ column, stored, service }: ColumnDifference): string {
  const format = (text: string | null) => (text === null ? "NULL" : formatValue(column, text));
  return `${column}: ${format(stored)} → ${format(service)}`;
}

const JSON_COLUMNS = ["listed", "metadata", "raw"];

/** A value with quotes, so that spaces at its ends are visible. JSON is printed as it is. */
function formatValue(column: string, text: string): string {
  return truncate(printable(JSON_COLUMNS.includes(column) ? text : JSON.stringify(text)), MAX_VALUE_COLUMNS);
}
