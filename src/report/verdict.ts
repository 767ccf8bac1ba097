import type { LibraryRows } from "../db/read/read-library.ts";
import type { Decision } from "../model.ts";
import { decide } from "../sync/rules/decide.ts";
import { fullReadDueAt, nextReadAt, windowEnd } from "../sync/rules/settle.ts";
import { formatMoment } from "./moments.ts";

/** What the next run would do with a library if the service listed it as it did the last time. */
export type Verdict =
  | Extract<Decision, { kind: "read" }>
  /** Nothing is asked for before `until`, in database ms. */
  | (Extract<Decision, { kind: "skip" }> & { readonly until: number })
  | { readonly kind: "none"; readonly reason: "removed" | "rejected" | "forgotten" };

export function judge({ key, now, stored, rejects }: LibraryRows, fullEveryMs: number): Verdict {
  if (stored === null) return { kind: "none", reason: rejects.open > 0 ? "rejected" : "forgotten" };
  if (stored.state === "removed") return { kind: "none", reason: "removed" };
  const { sync } = stored;
  // An entry that can be stored: what the last listing lacked for that is owed already.
  const listed = { key, lastModified: sync?.listedText ?? null, source: "{}" };
  const decision = decide(listed, stored, { now: now.getTime(), fullEveryMs, backfillSince: null });
  if (decision.kind === "read" || sync === null) return decision.kind === "read" ? decision : NEVER_READ;
  return { ...decision, until: Math.min(nextReadAt(sync) ?? Infinity, fullReadDueAt(sync, key, fullEveryMs)) };
}

const NEVER_READ = { kind: "read", reason: "never read" } as const;

const WHY_READ: Readonly<Record<Extract<Verdict, { kind: "read" }>["reason"], string>> = {
  "never read": "nothing of its content is stored",
  "listed date changed": "the date listed last is not the one under which its content was stored whole",
  "no listed date": "so only reading it tells whether it changed",
  "owes a read: rejects": "some of what was read last could not be stored",
  "owes a read: failure": "the last read failed",
  "owes a read: shrunk": "its list lost so many scenarios at once that a second look must confirm it",
  "owes a read: restored": "it was removed, and is listed again",
  "not settled yet": "it may have changed since it was read, and carry the same date",
  "due for a full read": "its content was not read for long; SIMCAT_FULL_EVERY asks for it",
  forced: "a backfill reads everything",
};

/** One plain sentence. */
export function sayVerdict(verdict: Verdict, { now, stored, library }: LibraryRows): string {
  if (verdict.kind === "read")
    return `It will be read by the next run: ${verdict.reason} (${WHY_READ[verdict.reason]}).`;
  if (verdict.kind === "none") {
    if (verdict.reason === "rejected") {
      return "It will not be read: the service lists it, but its entry cannot be stored or asked for; see its rejects.";
    }
    if (verdict.reason === "forgotten") {
      return "It will not be read unless it is listed again: nothing is left of it but rejects that are over.";
    }
    const since = formatMoment(library?.removedAt ?? null, now);
    return `It will not be read: not listed any more, removed ${since}. Listed again, it is restored and read.`;
  }
  const until = formatMoment(new Date(verdict.until), now);
  if (verdict.reason === "unchanged") return `It will be skipped: unchanged and settled; next full read by ${until}.`;
  const end = stored?.sync ? windowEnd(stored.sync) : null;
  const window = end === null ? "" : ` its window ends ${formatMoment(new Date(end), now)},`;
  return `It will be skipped for now: unchanged, but its date is not settled yet;${window} next read due ${until}.`;
}
