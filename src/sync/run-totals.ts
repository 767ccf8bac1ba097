import { asDatabaseError } from "../db/db-errors.ts";
import { type AcceptedListing, isGood } from "../db/runs.ts";
import { DatabaseError, SimcatError, toError } from "../errors.ts";
import type { LibraryFailure, LibraryKey, Reason, Reject, SaveOutcome, Withheld } from "../model.ts";
import {
  COUNT_COLUMNS,
  type EndStatus,
  RUN_STATUSES,
  type RunCounts,
  type RunRequest,
  type RunSummary,
  type Warning,
} from "../run-summary.ts";
import { hasOtherName, isSilent } from "./rules/library-content.ts";
import type { Plan } from "./rules/planner.ts";
import { SUSPECT_READS } from "./rules/settle.ts";

/** How a run ended. */
export interface RunOutcome {
  readonly status: EndStatus;
  /** A message for people beyond the counts; null if there is none. */
  readonly message: string | null;
  /** Why the run ended early; null if it completed. */
  readonly error: Error | null;
}

/** The outcome of a run that ended with this error. */
export function outcomeOfError(thrown: unknown): RunOutcome {
  const error = toError(asDatabaseError("working with the database", thrown));
  // A missing table too is a failure of the database.
  const code =
    error instanceof DatabaseError ? "database_failed" : error instanceof SimcatError ? error.code : "failed";
  const status = RUN_STATUSES.find((one) => one === code) ?? "failed";
  return { status, message: error.message, error };
}

/** The counts, failures and warnings of a run. Its summary is made from this. */
export class RunTotals {
  readonly counts = Object.fromEntries(Object.keys(COUNT_COLUMNS).map((count) => [count, 0])) as RunCounts;
  /** Why libraries were read. */
  readonly reasons: Partial<Record<Reason, number>> = {};
  /** Why libraries were skipped. */
  readonly skips: Partial<Record<Reason, number>> = {};
  /** Rejects by code. */
  readonly rejects: Record<string, number> = {};
  readonly failures: LibraryFailure[] = [];
  /** Libraries whose scenario list lost too much at once. */
  readonly withheld: { readonly key: LibraryKey; readonly withheld: Withheld }[] = [];
  readonly warnings: Warning[] = [];
  /** Null before the listing was accepted. */
  listing: AcceptedListing | null = null;
  /** Whether the `Date` of the listing agrees with the database's clock to an hour. */
  isClockConfirmed = false;
  /** Libraries that are suspect after several reads under one listed date. */
  suspectReads = 0;
  /** Libraries whose metadata has another library's name. */
  misnamed = 0;
  /** Libraries that owe a read, and rejects of earlier listings, which a cached listing did not show. */
  #unseen = 0;

  add(outcome: SaveOutcome): void {
    if (outcome.kind === "saved") this.#addSaved(outcome);
    if (outcome.kind === "failed") {
      const { key, code, message, rejects, silent } = outcome.failure;
      if (silent) this.counts.silentChanges += 1;
      this.counts.librariesFailed += 1;
      this.failures.push({ key, code, message });
      this.addRejects(rejects);
    }
    if (outcome.kind === "unsaved") this.warn("failure_unrecorded", outcome.message, outcome.key);
  }

  #addSaved({ action, content, saved }: Extract<SaveOutcome, { kind: "saved" }>): void {
    const { counts } = this;
    if (content.metadata !== null && hasOtherName(content.metadata, content.listed.key)) this.misnamed += 1;
    else if (content.suspectReads >= SUSPECT_READS) this.suspectReads += 1;
    counts.librariesRead += 1;
    counts.scenariosInserted += saved.inserted;
    counts.scenariosUpdated += saved.updated;
    counts.scenariosRemoved += saved.removed;
    counts.scenariosUnchanged += saved.unchanged;
    // The return of a removed library is a version of its own, written when it was listed.
    if (saved.changed || action.stored?.state === "removed") counts.librariesChanged += 1;
    const isOther = saved.changed || saved.withheld !== null || content.rejects.length > 0;
    if (isOther && isSilent(action, content.contentHash)) counts.silentChanges += 1;
    if (saved.withheld) this.withheld.push({ key: content.listed.key, withheld: saved.withheld });
    this.reasons[action.reason] = (this.reasons[action.reason] ?? 0) + 1;
    this.addRejects(content.rejects);
  }

  warn(code: string, message: string, key: LibraryKey | null = null): void {
    this.warnings.push({ code, ...(key && { key }), message });
  }

  addRejects(rejects: readonly Reject[]): void {
    this.counts.rejects += rejects.length;
    for (const { code } of rejects) this.rejects[code] = (this.rejects[code] ?? 0) + 1;
  }

  /** @param unseenRejects how many open rejects of earlier listings a cached listing cannot show */
  addPlan({ skipped, missingButCached }: Pick<Plan, "skipped" | "missingButCached">, unseenRejects: number): void {
    this.#unseen = missingButCached.owing + unseenRejects;
    for (const reason of ["unchanged", "settling", "backing off"] as const) {
      this.counts.librariesSkipped += skipped[reason];
      if (skipped[reason] > 0) this.skips[reason] = skipped[reason];
    }
  }

  /** `partial` if anything failed, backs off, was rejected, withheld or not saved, or was hidden by a cached listing. */
  status(): "ok" | "partial" {
    const failing = this.failures.length + (this.skips["backing off"] ?? 0) + this.#unseen;
    const isUnsaved = this.warnings.some(({ code }) => code === "failure_unrecorded");
    return isUnsaved || failing + this.counts.rejects + this.withheld.length > 0 ? "partial" : "ok";
  }

  /** The run's row, the log, the printed summary and `--json` are made from it. `mask` takes the secrets out of a message. */
  toSummary(
    { id, request, mask }: { id: number; request: Pick<RunRequest, "kind">; mask: (message: string) => string },
    { status, message }: Omit<RunOutcome, "error">,
    durationMs: number,
  ): RunSummary {
    const { counts, reasons, skips, failures, rejects, warnings } = this;
    return {
      ...structuredClone({ counts, reasons, skips, failures, rejects, warnings }),
      id,
      kind: request.kind,
      status,
      isGood: isGood(status, counts, this.listing !== null),
      durationMs: Math.round(durationMs),
      error: message === null ? null : mask(message),
    };
  }
}
