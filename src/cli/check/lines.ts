import { EXIT, SimcatError } from "../../errors.ts";
import type { CheckLine } from "../../report/check.ts";

const NOTHING = { hint: null, details: [], exitCode: null } as const;

export const ok = (check: string, text: string, details: readonly string[] = []): CheckLine => {
  return { ...NOTHING, check, result: "ok", text, details };
};

export const warn = (check: string, text: string, hint: string | null, details: readonly string[] = []): CheckLine => {
  return { ...NOTHING, check, result: "warn", text, hint, details };
};

export const skipped = (check: string, text: string): CheckLine => ({ ...NOTHING, check, result: "skipped", text });

export function fail(check: string, exitCode: number, text: string, hint: string | null): CheckLine {
  return { ...NOTHING, check, result: "fail", text, hint, exitCode };
}

/** The line of a check that ended with this error. */
export function failedBy(check: string, error: unknown): CheckLine {
  const exitCode = error instanceof SimcatError ? error.exitCode : EXIT.failed;
  const { text, hint } = splitHint(error instanceof Error ? error.message : String(error));
  return fail(check, exitCode, text, hint);
}

/** Our messages say what happened; then, behind the first semicolon that stands in no brackets, what to do. */
export function splitHint(message: string): { readonly text: string; readonly hint: string | null } {
  let depth = 0;
  for (let at = 0; at < message.length; at += 1) {
    const char = message[at];
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (char !== ";" || depth !== 0) continue;
    const hint = message
      .slice(at + 1)
      .trim()
      .replace(/^expected /, "give ");
    return { text: message.slice(0, at), hint };
  }
  return { text: message, hint: null };
}
