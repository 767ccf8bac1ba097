import type { SyncState } from "../../src/model.ts";

/** The bookkeeping of a library that no run has listed or read. */
export const NEVER_READ: SyncState = {
  listedText: null,
  bookmark: null,
  contentHash: null,
  bookmarkSeenAt: null,
  contentReadAt: null,
  rereadReason: null,
  hasAbsences: false,
  failures: 0,
  lastFailedAt: null,
  suspectReads: 0,
  removalHeldAt: null,
};
