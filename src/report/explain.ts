import type { LibraryRows } from "../db/read/read-library.ts";
import { formatKey } from "../key.ts";
import type { SyncState } from "../model.ts";
import { printable } from "../printable.ts";
import { fullReadDueAt } from "../sync/rules/settle.ts";
import { formatCount, plural } from "./amounts.ts";
import { formatMoment } from "./moments.ts";
import { saySettled } from "./settled.ts";
import { judge, sayVerdict } from "./verdict.ts";

/** Why a library was or will be read or not, for people. */
export function formatExplanation(rows: LibraryRows, fullEveryMs: number): string {
  const { key, stored } = rows;
  const sync = stored?.sync ?? null;
  const facts = [
    ...(sync === null ? [] : [...sayDates(sync, rows), ...sayReads(sync, rows, fullEveryMs)]),
    ...sayContent(rows),
  ];
  const head = [printable(formatKey(key)), sayVerdict(judge(rows, fullEveryMs), rows), sayBasis(rows)];
  const table = facts.map(([name, text]) => `${name.padEnd(14)}  ${text}`);
  return [...head, "", ...table, ...sayRejects(rows)].join("\n");
}

type Fact = readonly [name: string, text: string];

function sayBasis({ lastGoodRun, now }: LibraryRows): string {
  const basis = "Judged by what was listed last; what the service lists now is not known here.";
  if (lastGoodRun === null) return `${basis} No run over everything has come to its end yet.`;
  return `${basis} Last good run: ${lastGoodRun.id}, ${formatMoment(lastGoodRun.startedAt, now)}.`;
}

function sayDates(sync: SyncState, { now }: LibraryRows): Fact[] {
  return [
    ["listed date", quote(sync.listedText)],
    ["bookmark", quote(sync.bookmark)],
    ["settled", saySettled(sync, now)],
    ["owes", sync.rereadReason === null ? "nothing" : `a read: ${sync.rereadReason}`],
  ];
}

function sayReads(sync: SyncState, { now, key, reads }: LibraryRows, fullEveryMs: number): Fact[] {
  const { lastError, lastFailedAt, lastSuccessAt } = reads;
  const isRead = sync.contentReadAt !== null;
  const failures =
    sync.failures === 0
      ? `none now${lastFailedAt === null ? "" : `; the last was ${formatMoment(lastFailedAt, now)}`}`
      : `${formatCount(sync.failures)} in a row, the last ${formatMoment(lastFailedAt, now)}: ${printable(lastError ?? "")}`;
  return [
    ["content read", momentOf(sync.contentReadAt, now)],
    ["full read due", isRead ? momentOf(fullReadDueAt(sync, key, fullEveryMs), now) : "at the next run"],
    ["last good copy", formatMoment(lastSuccessAt, now)],
    ["failures", failures],
  ];
}

function sayContent({ now, library, scenarios, versions }: LibraryRows): Fact[] {
  if (library === null) return [["stored", "nothing"]];
  const { lastModified, firstSeenAt, changedAt, removedAt } = library;
  const live = removedAt === null ? scenarios : 0;
  const history = `${plural(versions.library, "earlier version")} of the library, ${formatCount(versions.scenarios)} of its scenarios`;
  return [
    ["stored date", quote(lastModified)],
    ["stored since", formatMoment(firstSeenAt, now)],
    ["last changed", formatMoment(changedAt, now)],
    ...(removedAt === null ? [] : [["removed", formatMoment(removedAt, now)] as const]),
    ["scenarios", `${formatCount(live)} live`],
    ["history", history],
  ];
}

function sayRejects({ now, rejects }: LibraryRows): string[] {
  const { open, resolved, shown } = rejects;
  const lines = shown.map(({ kind, code, path, reason, firstSeenAt, lastSeenAt }) => {
    const where = path === "" ? kind : `${kind}, ${path}`;
    const seen = `first seen ${formatMoment(firstSeenAt, now)}, last ${formatMoment(lastSeenAt, now)}`;
    return `  ${printable(`${code} (${where}): ${reason}`)}; ${seen}`;
  });
  const more = open > shown.length ? [`  … and ${formatCount(open - shown.length)} more`] : [];
  return [`${"rejects".padEnd(14)}  ${formatCount(open)} open, ${formatCount(resolved)} resolved`, ...lines, ...more];
}

/** With its quotes, since a space at an end counts. */
const quote = (text: string | null) => (text === null ? "none" : printable(JSON.stringify(text)));

const momentOf = (ms: number | null, now: Date) => formatMoment(ms === null ? null : new Date(ms), now);
