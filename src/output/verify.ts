import type { ColumnDifference, DifferenceKind } from "../db/read/compare-rows.ts";
import { cutToDifference, formatCount, formatElapsed, formatInstant, formatLibraries, plural } from "../format.ts";
import { formatKey, shellWord } from "../key.ts";
import type { LibraryKey } from "../model.ts";
import { printable } from "../printable.ts";
import type { LibraryDifference, VerifyResult } from "../verify/verify-stored.ts";
import { mark, PLAIN } from "./look.ts";
import { truncate } from "./table.ts";

/** Libraries of one kind that are printed in full. The rest is a number; `--json` prints all of them. */
const MAX_LINES = 50;
/** If more libraries differ, the advice does not name them. */
const MAX_NAMED = 5;
const MAX_VALUE_COLUMNS = 40;

const nameOf = (key: LibraryKey) => printable(formatKey(key));

/** The summary at the end of a comparison, for people. */
export function formatVerify(result: VerifyResult, look = PLAIN): string {
  const { differences, unread, rejected, incomplete, passing } = result;
  const findings = [
    ...formatList("differs", differences, (found) => `${nameOf(found.key)}: ${formatDifference(found)}`),
    ...formatList("unread", unread, ({ key, code, message }) => `${nameOf(key)}: ${code}: ${printable(message)}`),
    ...formatList("rejects", rejected, ({ key, count, reason }) => {
      const where = key === null ? "an entry of the listing" : nameOf(key);
      return `${where}: ${plural(count, "item")} could not be compared: ${printable(reason)}`;
    }),
  ];
  if (incomplete !== null) findings.push(`  listing    ${printable(incomplete)}`);
  const cached = formatCached(result);
  if (cached !== null) findings.push(`  cached     ${cached}`);
  if (passing > 0) findings.push(`  passing    ${formatLibraries(passing)} differed, and agreed when read again`);
  return [
    `${mark(look, result.agrees ? "good" : "bad", `verify: ${formatResult(result)}`)} (${formatElapsed(result.durationMs)})`,
    `  libraries  ${formatCount(result.listed)} listed, ${formatCount(result.agreeing)} agree`,
    `  scenarios  ${formatCount(result.scenarios)} compared${differences.length > 0 ? "; differences are printed as stored → service" : ""}`,
    ...findings,
    ...formatAdvice(result).map((advice, index) => `${index === 0 ? "  to do      " : "             "}${advice}`),
  ].join("\n");
}

/** The service itself may have another state than a cache's answer. Null if no cache answered. */
function formatCached({ cachedMs }: VerifyResult): string | null {
  if (cachedMs === 0) return null;
  const age = Number.isFinite(cachedMs) ? formatElapsed(cachedMs) : "an unknown time";
  return `a cache had stored an answer for ${age}: later edits were not compared. Is there a caching proxy before the service?`;
}

function formatResult({ agrees, differences, unread, rejected }: VerifyResult): string {
  if (agrees) return "the database agrees with the service";
  const verb = differences.length === 1 ? "differs" : "differ";
  const found = [
    differences.length > 0 ? `${formatLibraries(differences.length)} ${verb}` : "",
    unread.length > 0 ? `${formatLibraries(unread.length)} could not be read` : "",
    rejected.length > 0 ? "some items could not be compared" : "",
  ];
  return found.filter((text) => text !== "").join(", ") || "the listing is incomplete";
}

function formatList<T>(title: string, found: readonly T[], format: (item: T) => string): string[] {
  const more = found.length - MAX_LINES;
  const rest = more > 0 ? [`… and ${formatCount(more)} more; --json prints all of them`] : [];
  return [...found.slice(0, MAX_LINES).map(format), ...rest].map((text) => `  ${title.padEnd(9)}  ${text}`);
}

/** For a library that one side lacks, and for its scenarios that one side lacks. */
const TEXTS: Readonly<Record<Exclude<DifferenceKind, "content">, { library: string; scenarios: string }>> = {
  missing: { library: "is listed and was never stored", scenarios: "not stored" },
  removed: { library: "is listed and marked as removed", scenarios: "marked as removed" },
  unlisted: { library: "is stored and not listed", scenarios: "stored and not in the list" },
};

/** The differences of a library and its rows on one line, as `column: stored → service`. */
function formatDifference({ kind, columns, counts, examples, removalHeldAt }: LibraryDifference): string {
  const held = removalHeldAt === null ? "" : `; a guard has held its removal since ${formatInstant(removalHeldAt)}`;
  if (kind !== "content") return `${TEXTS[kind].library}${held}`;
  const ofKind = (wanted: DifferenceKind) => examples.filter((example) => example.kind === wanted);
  const shown = ofKind("content");
  const more = counts.content - shown.length;
  const oneSided = (["missing", "removed", "unlisted"] as const).filter((side) => counts[side] > 0);
  return [
    ...columns.map(formatColumn),
    ...shown.map((one) => `scenario ${one.id} ${one.columns.map(formatColumn).join(", ")}`),
    ...(more > 0 ? [`${plural(more, "other scenario")} too`] : []),
    ...oneSided.map((side) => {
      const ids = [...ofKind(side).map(({ id }) => String(id)), ...(counts[side] > ofKind(side).length ? ["…"] : [])];
      return `${plural(counts[side], "scenario")} ${TEXTS[side].scenarios} (${ids.join(", ")})`;
    }),
  ].join("; ");
}

function formatColumn({ column, stored, service }: ColumnDifference): string {
  const format = (text: string | null) => (text === null ? "NULL" : formatValue(column, text));
  const shown = cutToDifference(format(stored), format(service), MAX_VALUE_COLUMNS);
  return `${column}: ${shown.map((text) => truncate(text, MAX_VALUE_COLUMNS)).join(" → ")}`;
}

const JSON_COLUMNS = ["listed", "metadata", "raw"];

/** A value with quotes, so that spaces at its ends are visible. JSON is printed as it is. */
const formatValue = (column: string, text: string) =>
  printable(JSON_COLUMNS.includes(column) ? text : JSON.stringify(text));

/** The commands that resolve the findings. */
function formatAdvice({ differences, unread, rejected }: VerifyResult): string[] {
  const by = (remedy: LibraryDifference["remedy"]) => differences.filter((one) => one.remedy === remedy);
  const altered = by("backfill").map(({ key }) => ` --library ${shellWord(formatKey(key))}`);
  const named = altered.length > MAX_NAMED ? "" : altered.join("");
  const unlisted = by("sync").filter(({ kind }) => kind === "unlisted").length;
  const read = by("sync").length - unlisted;
  const later = by("later").length;
  const held = by("allow-removals").filter(({ removalHeldAt }) => removalHeldAt !== null).length;
  const advice: [count: number, text: string][] = [
    [altered.length, `simcat backfill --restart${named}`],
    [read, `simcat sync reads ${formatLibraries(read)} in any case, and stores what it can`],
    [later, `simcat sync reads ${formatLibraries(later)} later; simcat explain OWNER/NAME says when`],
    [unlisted, "simcat sync marks as removed what is no longer listed, unless a guard holds it"],
    [
      held,
      `${plural(held, "removal is", "removals are")} held: simcat sync --allow-removals marks as removed what is really gone; otherwise restore it in the service`,
    ],
    [
      by("allow-removals").length - held,
      "the listing has no library of the copy: is it of another organization? If not, simcat sync --allow-removals stores it; simcat sync stores nothing",
    ],
    [unread.length, "simcat check shows whether the service answers; docs/operations.md has a remedy for each code"],
    [rejected.length, "correct the rejected items in the service; simcat status lists those that a run received"],
  ];
  return advice.flatMap(([count, text]) => (count > 0 ? [text] : []));
}

const toKeyJson = (key: LibraryKey | null) => ({ owner: key?.owner ?? null, library: key?.name ?? null });

/** The same for machines. An id beyond 2^53−1 is a text, because JSON readers would round it. */
export function toVerifyJson(result: VerifyResult, exitCode: number) {
  const { agrees, durationMs, listed, scenarios, differences, unread, rejected, incomplete, passing } = result;
  return {
    agrees,
    exit_code: exitCode,
    duration_ms: durationMs,
    libraries_listed: listed,
    libraries_agreeing: result.agreeing,
    libraries_differing: differences.length,
    libraries_unread: unread.length,
    libraries_differing_in_passing: passing,
    scenarios_compared: scenarios,
    incomplete,
    cached: formatCached(result),
    differences: differences.map(({ key, kind, remedy, columns, counts, examples, removalHeldAt }) => ({
      ...toKeyJson(key),
      kind,
      remedy,
      removal_held_at: removalHeldAt,
      columns,
      scenarios: {
        ...counts,
        examples: examples.map((one) => ({ ...one, id: typeof one.id === "bigint" ? String(one.id) : one.id })),
      },
    })),
    unread: unread.map(({ key, code, message }) => ({ ...toKeyJson(key), code, message })),
    rejects: rejected.map(({ key, count, reason }) => ({ ...toKeyJson(key), count, reason })),
  };
}
