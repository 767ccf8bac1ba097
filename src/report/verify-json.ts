import type { LibraryKey } from "../model.ts";
import type { VerifyReport } from "../verify/findings.ts";
import { countAgreeing } from "./verify.ts";

const nameOf = (key: LibraryKey | null) => ({ owner: key?.owner ?? null, library: key?.name ?? null });

/** A comparison for machines. An id beyond 2^53−1 is a text, since JSON readers would round it. */
export function toVerifyJson(report: VerifyReport, exitCode: number) {
  const { agrees, durationMs, listed, scenarios, differences, unread, rejected, incomplete, passing } = report;
  return {
    agrees,
    exit_code: exitCode,
    duration_ms: durationMs,
    libraries_listed: listed,
    libraries_agreeing: countAgreeing(report),
    libraries_differing: differences.length,
    libraries_unread: unread.length,
    libraries_differing_in_passing: passing,
    scenarios_compared: scenarios,
    incomplete,
    differences: differences.map(({ key, kind, columns, scenarios: found }) => ({
      ...nameOf(key),
      kind,
      columns,
      scenarios: {
        ...found.counts,
        examples: found.examples.map((one) => ({ ...one, id: typeof one.id === "bigint" ? String(one.id) : one.id })),
      },
    })),
    unread: unread.map(({ key, code, message }) => ({ ...nameOf(key), code, message })),
    rejects: rejected.map(({ key, count, reason }) => ({ ...nameOf(key), count, reason })),
  };
}
