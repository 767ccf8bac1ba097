import { formatCount, formatElapsed, plural } from "../format.ts";
import { formatKey, keyText, shellWord, typeableKey } from "../key.ts";
import type { LibraryKey } from "../model.ts";
import { printable } from "../printable.ts";
import type { LibraryDifference, VerifyReport } from "../verify/findings.ts";
import { formatDifference } from "./difference.ts";
import { truncate } from "./text-width.ts";

/** Libraries of one kind that are printed in full. The rest is a number; `--json` prints all of them. */
const MAX_LINES = 50;
/** If more libraries differ, the advice does not name them. */
const MAX_NAMED = 5;

const formatLibraries = (count: number) => plural(count, "library", "libraries");
const nameOf = (key: LibraryKey) => printable(formatKey(key));

/** The summary at the end of a comparison, for people. Only the advice may be wider than `columns`. */
export function formatVerify(report: VerifyReport, columns: number): string {
  const { differences, unread, rejected, incomplete, passing } = report;
  const findings = [
    ...formatList("differs", differences, (found) => `${nameOf(found.key)}: ${formatDifference(found)}`),
    ...formatList("unread", unread, ({ key, code, message }) => `${nameOf(key)}: ${code}: ${printable(message)}`),
    ...formatList("rejects", rejected, ({ key, count, reason }) => {
      const where = key === null ? "an entry of the listing" : nameOf(key);
      return `${where}: ${plural(count, "item")} could not be compared: ${printable(reason)}`;
    }),
  ];
  if (incomplete !== null) {
    findings.push(`  listing    ${printable(incomplete)}; libraries that it lacks were not compared`);
  }
  if (passing > 0) findings.push(`  passing    ${formatLibraries(passing)} differed, and agreed when read again`);
  return [
    `verify: ${formatResult(report)} (${formatElapsed(report.durationMs)})`,
    `  libraries  ${formatCount(report.listed)} listed, ${formatCount(countAgreeing(report))} agree`,
    `  scenarios  ${formatCount(report.scenarios)} compared${differences.length > 0 ? "; differences are printed as stored → service" : ""}`,
    ...findings.map((line) => truncate(line, columns)),
    ...formatAdvice(report).map((advice, index) => `${index === 0 ? "  to do      " : "             "}${advice}`),
  ].join("\n");
}

function formatResult({ agrees, differences, unread, rejected }: VerifyReport): string {
  if (agrees) return "the database agrees with the service";
  const found = [
    ...(differences.length > 0
      ? [`${formatLibraries(differences.length)} ${differences.length === 1 ? "differs" : "differ"}`]
      : []),
    ...(unread.length > 0 ? [`${formatLibraries(unread.length)} could not be read`] : []),
    ...(rejected.length > 0 ? ["some items could not be compared"] : []),
  ];
  return found.length > 0 ? found.join(", ") : "the listing is incomplete";
}

/** Listed libraries that were compared completely and agree. */
function countAgreeing({ listed, differences, unread, rejected }: VerifyReport): number {
  const isListed = ({ kind }: LibraryDifference) => kind !== "unlisted";
  const others = [...differences.filter(isListed), ...unread, ...rejected].flatMap(({ key }) => key ?? []);
  return Math.max(0, listed - new Set(others.map(keyText)).size);
}

function formatList<T>(title: string, found: readonly T[], format: (item: T) => string): string[] {
  const lines = found.slice(0, MAX_LINES).map((item) => `  ${title.padEnd(9)}  ${format(item)}`);
  if (found.length > MAX_LINES)
    lines.push(`  ${title.padEnd(9)}  … and ${found.length - MAX_LINES} more; --json prints all of them`);
  return lines;
}

/** The commands that resolve the findings. */
function formatAdvice({ differences, unread, rejected }: VerifyReport): string[] {
  const advice: string[] = [];
  const listed = differences.filter(({ kind }) => kind !== "unlisted");
  const held = differences.filter(({ removalHeldAt }) => removalHeldAt !== null);
  if (listed.length > 0) {
    const named = listed.length > MAX_NAMED ? [] : listed.map(({ key }) => ` --library ${shellWord(typeableKey(key))}`);
    advice.push(`simcat backfill --restart${named.join("")}`);
  }
  if (listed.length + held.length < differences.length)
    advice.push("simcat sync marks as removed what is no longer listed");
  if (held.length > 0) {
    advice.push(
      `${plural(held.length, "removal is", "removals are")} held: simcat sync --allow-removals marks as removed what is really gone; otherwise restore it in the service`,
    );
  }
  if (unread.length > 0) advice.push("run simcat verify again; simcat check shows whether the service answers");
  if (rejected.length > 0) advice.push("correct the rejected items in the service; simcat status lists them");
  return advice;
}

const toKeyJson = (key: LibraryKey | null) => ({ owner: key?.owner ?? null, library: key?.name ?? null });

/** The same for machines. An id beyond 2^53−1 is a text, because JSON readers would round it. */
export function toVerifyJson(report: VerifyReport, exitCode: number) {
  const { agrees, durationMs, listed, scenarios, differences, unread, rejected, incomplete, passing } = report;
  return {
    agrees,
    exit_code: exitCode,
    duration_ms: durationMs,
    libraries_listed: listed,
    libraries_agreeing: countAgreeing(report),
    libraries_differing: differences.length,
    libraries_unread: unread.length,
    libraries_differing_in_passing: passing,
    scenarios_compared: scenarios,
    incomplete,
    differences: differences.map(({ key, kind, columns, scenarios: found, removalHeldAt }) => ({
      ...toKeyJson(key),
      kind,
      removal_held_at: removalHeldAt,
      columns,
      scenarios: {
        ...found.counts,
        examples: found.examples.map((one) => ({ ...one, id: typeof one.id === "bigint" ? String(one.id) : one.id })),
      },
    })),
    unread: unread.map(({ key, code, message }) => ({ ...toKeyJson(key), code, message })),
    rejects: rejected.map(({ key, count, reason }) => ({ ...toKeyJson(key), count, reason })),
  };
}
