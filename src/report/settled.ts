import type { SyncState } from "../model.ts";
import { isSettled, nextReadAt, windowEnd } from "../sync/rules/settle.ts";
import { plural } from "./amounts.ts";
import { formatMoment } from "./moments.ts";

/** Whether an equal listed date proves that the stored content is the service's, and if not, why and until when. */
export function saySettled(sync: SyncState, now: Date): string {
  if (isSettled(sync)) return "yes";
  if (!sync.bookmark) return "no: its content was not yet stored whole under a date";
  if (!sync.listedText) return "no: the service lists no date";
  if (sync.listedText !== sync.bookmark) return "no: the listed date is not the bookmark";
  if (sync.rereadReason !== null) return "no: it owes a read";
  const due = `next read due ${momentOf(nextReadAt(sync), now)}`;
  if (sync.suspectReads > 0) {
    const reads = plural(sync.suspectReads, "read");
    return `no: ${reads} in a row may have come from a cache, or named another date or library than the listing; ${due}`;
  }
  const end = windowEnd(sync);
  const window = momentOf(end, now);
  return end !== null && now.getTime() > end
    ? `no: not read since its window ended ${window}; ${due}`
    : `no: its window ends ${window}; ${due}`;
}

const momentOf = (ms: number | null, now: Date) => formatMoment(ms === null ? null : new Date(ms), now);
