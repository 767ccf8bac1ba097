import { EXIT, SimcatError, toError } from "../../errors.ts";
import type { CheckLine } from "../../output/check.ts";

const DEFAULTS = { hint: null, details: [], exitCode: null } as const;

export const ok = (check: string, text: string, details: readonly string[] = []): CheckLine => {
  return { ...DEFAULTS, check, result: "ok", text, details };
};

export const warn = (check: string, text: string, hint: string | null, details: readonly string[] = []): CheckLine => {
  return { ...DEFAULTS, check, result: "warn", text, hint, details };
};

export const skipped = (check: string, text: string): CheckLine => ({ ...DEFAULTS, check, result: "skipped", text });

export function fail(check: string, exitCode: number, text: string, hint: string | null): CheckLine {
  return { ...DEFAULTS, check, result: "fail", text, hint, exitCode };
}

/** The line of a check that ended with this error. */
export function failedBy(check: string, error: unknown): CheckLine {
  if (error instanceof SimcatError) return fail(check, error.exitCode, error.summary, error.hint);
  return fail(check, EXIT.failed, toError(error).message, null);
}
