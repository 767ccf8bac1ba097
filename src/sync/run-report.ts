import type { RunKind, RunReport } from "../model.ts";
import type { Ending } from "./ending.ts";
import type { Tally } from "./tally.ts";

export interface RunFacts {
  readonly id: number;
  readonly kind: RunKind;
  readonly tally: Tally;
  readonly ending: Ending;
  readonly durationMs: number;
  /** Takes the secrets out of a message. */
  readonly mask: (message: string) => string;
}

/** Everything that is told about a run, as one value. */
export function toReport({ id, kind, tally, ending, durationMs, mask }: RunFacts): RunReport {
  const { counts, reasons, skips, failures, rejects, warnings } = tally;
  return {
    id,
    kind,
    status: ending.status,
    durationMs: Math.round(durationMs),
    counts: { ...counts },
    reasons: { ...reasons },
    skips: { ...skips },
    failures: [...failures],
    rejects: { ...rejects },
    warnings: [...warnings],
    error: ending.message === null ? null : mask(ending.message),
  };
}
