import type { LibraryRows } from "../db/read/read-library-record.ts";
import { formatCount, formatMoment, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import type { SyncState } from "../model.ts";
import { printable } from "../printable.ts";
import { fullReadDueAt, isSettled, nextReadAt, nextTryAt, windowEnd } from "../sync/rules/settle.ts";
import { toSnakeCase } from "./summary.ts";
import { dateOf, formatSettled, formatVerdict, judge, momentOf, type Verdict } from "./verdict.ts";

/** Explains to people why a library was or will be read, or not. */
export function formatExplanation(rows: LibraryRows, fullEveryMs: number): string {
  const { key, stored } = rows;
  const sync = stored?.sync ?? null;
  const verdict = judge(rows, fullEveryMs);
  const due = fullReadDueOf(verdict, rows, fullEveryMs);
  const facts = [...(sync === null ? [] : formatSync(sync, rows, verdict, due)), ...formatStored(rows)];
  const head = [printable(formatKey(key)), formatVerdict(verdict, rows), formatBasis(rows)];
  const table = facts.map(([name, text]) => `${name.padEnd(14)}  ${text}`);
  return [...head, "", ...table, ...formatLibraryRejects(rows)].join("\n");
}

type Fact = readonly [name: string, text: string];

const UNKNOWN_DATE = "not visible to this role";

/** Null if this role cannot know them: the views show the stored date, which is both only if it is settled. */
const datesOf = (sync: SyncState, { source }: LibraryRows) => (source === "tables" || isSettled(sync) ? sync : null);

function formatBasis({ lastGoodRun, now }: LibraryRows): string {
  const basis = "Based on the last recorded listing; explain sends no request.";
  if (lastGoodRun === null) return `${basis} No run of all libraries has succeeded yet.`;
  return `${basis} Last good run: ${lastGoodRun.id}, started ${formatMoment(lastGoodRun.startedAt, now)}.`;
}

function formatSync(sync: SyncState, rows: LibraryRows, { kind }: Verdict, due: Date | null): Fact[] {
  const { now, reads } = rows;
  const { lastError, lastFailedAt, lastSuccessAt } = reads;
  const dates = datesOf(sync, rows);
  const notDue = kind === "none" ? "not while it is not listed" : "at the next read";
  const failures =
    sync.failures === 0
      ? `none now${lastFailedAt === null ? "" : `; the last was ${formatMoment(lastFailedAt, now)}`}`
      : `${formatCount(sync.failures)} in a row, the last ${formatMoment(lastFailedAt, now)}: ${printable(lastError ?? "")}`;
  return [
    ["listed date", dates === null ? UNKNOWN_DATE : quoteOrNone(dates.listedText)],
    ["bookmark", dates === null ? UNKNOWN_DATE : quoteOrNone(dates.bookmark)],
    ["settled", formatSettled(sync, rows, kind !== "none")],
    ["owes", sync.rereadReason === null ? "nothing" : `a read: ${sync.rereadReason}`],
    ["content read", momentOf(sync.contentReadAt, now)],
    ["full read due", due === null ? notDue : formatMoment(due, now)],
    ["last good copy", formatMoment(lastSuccessAt, now)],
    ["failures", failures],
  ];
}

/** Null before the first read, and for a library that is not listed: removed, or its removal is held. */
function fullReadDueOf({ kind }: Verdict, { key, stored }: LibraryRows, fullEveryMs: number): Date | null {
  const isDue = stored?.sync && stored.sync.contentReadAt !== null && kind !== "none";
  return isDue ? dateOf(fullReadDueAt(stored.sync, key, fullEveryMs)) : null;
}

function formatStored({ now, library, scenarios, versions }: LibraryRows): Fact[] {
  if (library === null) return [["stored", "nothing"]];
  const { lastModified, firstSeenAt, changedAt, removedAt } = library;
  const live = removedAt === null ? scenarios : 0;
  const history = `${plural(versions.library, "earlier version")} of the library, ${formatCount(versions.scenarios)} of its scenarios`;
  return [
    ["stored date", quoteOrNone(lastModified)],
    ["stored since", formatMoment(firstSeenAt, now)],
    ["last changed", formatMoment(changedAt, now)],
    ...(removedAt === null ? [] : [["removed", formatMoment(removedAt, now)] as const]),
    ["scenarios", `${formatCount(live)} live`],
    ["history", history],
  ];
}

function formatLibraryRejects({ now, rejects }: LibraryRows): string[] {
  const { open, resolved, shown } = rejects;
  const lines = shown.map(({ kind, code, path, reason, firstSeenAt, lastSeenAt }) => {
    const where = path === "" ? kind : `${kind}, ${path}`;
    const seen = `; first seen ${formatMoment(firstSeenAt, now)}, last ${formatMoment(lastSeenAt, now)}`;
    return `  ${printable(`${code} (${where}): ${reason}`)}${firstSeenAt === null ? "" : seen}`;
  });
  const more = open > shown.length ? [`  … and ${formatCount(open - shown.length)} more`] : [];
  const counts = `${formatCount(open)} open${resolved === null ? "" : `, ${formatCount(resolved)} resolved`}`;
  return [`${"rejects".padEnd(14)}  ${counts}`, ...lines, ...more];
}

/** A text with quotes, so that spaces at its ends are visible. */
const quoteOrNone = (text: string | null) => (text === null ? "none" : printable(JSON.stringify(text)));

/** The same for machines, under the names of the tables' columns. Times are dates, or null. */
export function toExplanationJson(rows: LibraryRows, fullEveryMs: number) {
  const { key, now, lastGoodRun, stored, library, scenarios, versions, reads, rejects } = rows;
  const verdict = judge(rows, fullEveryMs);
  const sync = stored?.sync ?? null;
  const dates = sync && datesOf(sync, rows);
  return {
    owner: key.owner,
    library: key.name,
    now,
    verdict: { next_run: verdict.kind, reason: verdict.reason, text: formatVerdict(verdict, rows) },
    last_good_run: lastGoodRun === null ? null : { id: lastGoodRun.id, started_at: lastGoodRun.startedAt },
    listed_text: dates?.listedText ?? null,
    bookmark: dates?.bookmark ?? null,
    settled: sync !== null && isSettled(sync),
    window_ends_at: sync !== null && waitsToSettle(sync) ? dateOf(windowEnd(sync)) : null,
    next_read_due_at:
      sync === null || verdict.kind === "none"
        ? null
        : dateOf(waitsToSettle(sync) ? nextReadAt(sync) : nextTryAt(sync)),
    reread_reason: sync?.rereadReason ?? null,
    removal_held_at: dateOf(sync?.removalHeldAt ?? null),
    content_read_at: dateOf(sync?.contentReadAt ?? null),
    suspect_reads: sync?.suspectReads ?? 0,
    full_read_due_at: fullReadDueOf(verdict, rows, fullEveryMs),
    failures: sync?.failures ?? 0,
    ...toSnakeCase(reads),
    stored: library !== null,
    last_modified: library?.lastModified ?? null,
    first_seen_at: library?.firstSeenAt ?? null,
    changed_at: library?.changedAt ?? null,
    removed_at: library?.removedAt ?? null,
    live_scenarios: library?.removedAt === null ? scenarios : 0,
    library_versions: versions.library,
    scenario_versions: versions.scenarios,
    open_rejects: rejects.open,
    resolved_rejects: rejects.resolved,
    rejects: rejects.shown.map(toSnakeCase),
  };
}

/** `nextReadAt` is defined only for these. Others are due at once, unless they fail repeatedly. */
const waitsToSettle = (sync: SyncState) =>
  sync.bookmark !== null && sync.listedText === sync.bookmark && sync.rereadReason === null;
