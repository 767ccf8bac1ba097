import type {
  LibraryContent,
  LibraryFailure,
  ReadAction,
  Reason,
  Reject,
  RunCounts,
  RunStatus,
  RunWarning,
  SavedLibrary,
} from "../model.ts";
import { isSilent } from "./content.ts";
import { hasOtherName } from "./rules/named-library.ts";
import { DOUBTFUL_READS } from "./rules/settle.ts";

/** What a run has done so far. The one mutable thing of it; everything told about the run is told from here. */
export interface Tally {
  readonly counts: RunCounts;
  /** Why libraries were read. */
  readonly reasons: Partial<Record<Reason, number>>;
  /** Why libraries were skipped. */
  readonly skips: Partial<Record<Reason, number>>;
  readonly rejects: Record<string, number>;
  readonly failures: LibraryFailure[];
  /** Libraries whose scenario list lost too much at once. */
  readonly withheld: SavedLibrary[];
  readonly warnings: RunWarning[];
  /** Libraries that stay in doubt after several reads of one text. */
  doubted: number;
  /** Libraries whose metadata has another library's name. */
  misnamed: number;
  saved(action: ReadAction, content: LibraryContent, outcome: SavedLibrary): void;
  failed(failure: LibraryFailure): void;
  rejected(rejects: readonly Reject[]): void;
  skipped(reason: Reason, count: number): void;
  /** `ok` or `partial`, by what was counted. */
  status(): Extract<RunStatus, "ok" | "partial">;
}

export function openTally(): Tally {
  const counts: RunCounts = {
    librariesListed: 0,
    librariesRead: 0,
    librariesSkipped: 0,
    librariesChanged: 0,
    librariesFailed: 0,
    librariesRemoved: 0,
    scenariosInserted: 0,
    scenariosUpdated: 0,
    scenariosRemoved: 0,
    scenariosUnchanged: 0,
    rejects: 0,
    requests: 0,
    retries: 0,
    bytes: 0,
    silentChanges: 0,
  };
  const tally: Tally = {
    counts,
    reasons: {},
    skips: {},
    rejects: {},
    failures: [],
    withheld: [],
    warnings: [],
    doubted: 0,
    misnamed: 0,
    saved(action, content, outcome) {
      if (content.metadata !== null && hasOtherName(content.metadata, content.listed.key)) tally.misnamed += 1;
      else if (content.suspectReads >= DOUBTFUL_READS) tally.doubted += 1;
      counts.librariesRead += 1;
      counts.scenariosInserted += outcome.inserted;
      counts.scenariosUpdated += outcome.updated;
      counts.scenariosRemoved += outcome.removed;
      counts.scenariosUnchanged += outcome.unchanged;
      // Its return is a version of its own, written when it was listed.
      if (outcome.changed || action.stored?.removed) counts.librariesChanged += 1;
      if (outcome.changed && isSilent(action)) counts.silentChanges += 1;
      if (outcome.withheld) tally.withheld.push(outcome);
      tally.reasons[action.reason] = (tally.reasons[action.reason] ?? 0) + 1;
    },
    failed(failure) {
      counts.librariesFailed += 1;
      tally.failures.push(failure);
    },
    rejected(rejects) {
      counts.rejects += rejects.length;
      for (const { code } of rejects) tally.rejects[code] = (tally.rejects[code] ?? 0) + 1;
    },
    skipped(reason, count) {
      counts.librariesSkipped += count;
      if (count > 0) tally.skips[reason] = count;
    },
    status: () => (tally.failures.length + counts.rejects + tally.withheld.length > 0 ? "partial" : "ok"),
  };
  return tally;
}
