import { formatKey, keyText, shellWord, typeableKey } from "../key.ts";
import type { LibraryKey } from "../model.ts";
import { printable } from "../printable.ts";
import type { LibraryDifference, VerifyReport } from "../verify/findings.ts";
import { formatCount, formatElapsed, plural } from "./amounts.ts";
import { formatDifference } from "./difference.ts";
import { truncate } from "./width.ts";

/** Libraries of a kind that are told in full; the rest are a number, and all of them are in the data. */
const SHOWN = 50;
/** Libraries that the mend names one by one. */
const NAMED = 5;

const libraries = (count: number) => plural(count, "library", "libraries");
const nameOf = (key: LibraryKey) => printable(formatKey(key));

/** The summary that ends a comparison; no line but the last ones is wider than `columns`. */
export function formatVerify(report: VerifyReport, columns: number): string {
  const { differences, unread, rejected, incomplete, passing } = report;
  const findings = [
    ...list("differs", differences, (one) => `${nameOf(one.key)}: ${formatDifference(one)}`),
    ...list("unread", unread, ({ key, code, message }) => `${nameOf(key)}: ${code}: ${printable(message)}`),
    ...list("rejects", rejected, ({ key, count, reason }) => {
      const whose = key === null ? "an entry of the listing" : nameOf(key);
      return `${whose}: ${plural(count, "item")} could not be read: ${printable(reason)}`;
    }),
  ];
  if (incomplete !== null) {
    findings.push(`  listing    ${printable(incomplete)}; what it lacks was not compared`);
  }
  if (passing > 0) findings.push(`  passing    ${libraries(passing)} differed, and agreed when read once more`);
  return [
    `verify: ${formatVerdict(report)} (${formatElapsed(report.durationMs)})`,
    `  libraries  ${formatCount(report.listed)} listed, ${formatCount(countAgreeing(report))} agree`,
    `  scenarios  ${formatCount(report.scenarios)} compared${differences.length > 0 ? "; what differs is told as stored → service" : ""}`,
    ...findings.map((line) => truncate(line, columns)),
    ...formatMends(report).map((mend, at) => `${at === 0 ? "  to do      " : "             "}${mend}`),
  ].join("\n");
}

function formatVerdict({ agrees, differences, unread, rejected }: VerifyReport): string {
  if (agrees) return "the database agrees with the service";
  const found = [
    ...(differences.length > 0
      ? [`${libraries(differences.length)} ${differences.length === 1 ? "differs" : "differ"}`]
      : []),
    ...(unread.length > 0 ? [`${libraries(unread.length)} could not be read`] : []),
    ...(rejected.length > 0 ? ["some items could not be compared"] : []),
  ];
  return found.length > 0 ? found.join(", ") : "the listing is not whole";
}

/** Libraries of the listing that were compared to the last item, and agree. */
export function countAgreeing({ listed, differences, unread, rejected }: VerifyReport): number {
  const isListed = ({ kind }: LibraryDifference) => kind !== "unlisted";
  const others = [...differences.filter(isListed), ...unread, ...rejected].flatMap(({ key }) => key ?? []);
  return Math.max(0, listed - new Set(others.map(keyText)).size);
}

function list<T>(title: string, found: readonly T[], format: (one: T) => string): string[] {
  const lines = found.slice(0, SHOWN).map((one) => `  ${title.padEnd(9)}  ${format(one)}`);
  if (found.length > SHOWN) lines.push(`  ${title.padEnd(9)}  … and ${found.length - SHOWN} more: --json tells all`);
  return lines;
}

function formatMends({ differences, unread, rejected }: VerifyReport): string[] {
  const mends: string[] = [];
  const here = differences.filter(({ kind }) => kind !== "unlisted");
  if (here.length > 0) {
    const named = here.length > NAMED ? [] : here.map(({ key }) => ` --library ${shellWord(typeableKey(key))}`);
    mends.push(`simcat backfill --restart${named.join("")}`);
  }
  if (here.length < differences.length) mends.push("simcat sync marks as removed what is no longer listed");
  if (unread.length > 0)
    mends.push("verify again what could not be read; simcat check says whether the service answers");
  if (rejected.length > 0) mends.push("what could not be read has to be mended in the service: see simcat status");
  return mends;
}
