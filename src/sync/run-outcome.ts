import { asDatabaseError } from "../db/db-errors.ts";
import { SimcatError, toError } from "../errors.ts";
import type { RunStatus, RunSummary } from "../run-summary.ts";
import type { RunTotals } from "./run-totals.ts";
import type { Run } from "./run-types.ts";

export interface RunOutcome {
  readonly status: RunStatus;
  /** A message for people beyond the counts; null if there is none. */
  readonly message: string | null;
  /** Why the run ended early; null if it completed. */
  readonly error: Error | null;
}

export function completed(status: "ok" | "partial" | "held", message: string | null = null): RunOutcome {
  return { status, message, error: null };
}

/** The outcome of a run that ended with this error: each SimcatError names its status; any other error is `failed`. */
export function outcomeOfError(thrown: unknown): RunOutcome {
  const named = asDatabaseError("working with the database", thrown);
  const error = toError(named);
  const status = error instanceof SimcatError ? (error.status ?? "failed") : "failed";
  return { status, message: error.message, error };
}

type Reported = Pick<Run, "id" | "mask"> & {
  readonly request: Pick<Run["request"], "kind">;
  readonly totals: RunTotals;
};

/** The summary of a run. Its row in `sync_runs`, the log, the printed summary and `--json` are made from it. */
export function toSummary(
  { id, request, totals, mask }: Reported,
  outcome: RunOutcome,
  durationMs: number,
): RunSummary {
  const { counts, reasons, skips, failures, rejects, warnings } = totals;
  return {
    id,
    kind: request.kind,
    status: outcome.status,
    durationMs: Math.round(durationMs),
    counts: { ...counts },
    reasons: { ...reasons },
    skips: { ...skips },
    failures: [...failures],
    rejects: { ...rejects },
    warnings: [...warnings],
    error: outcome.message === null ? null : mask(outcome.message),
  };
}
