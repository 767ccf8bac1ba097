import { EXIT, SimcatError } from "../../errors.ts";
import type { CheckLine } from "../../report/check.ts";

const NOTHING = { mend: null, details: [], exitCode: null } as const;

export const ok = (check: string, text: string, details: readonly string[] = []): CheckLine => {
  return { ...NOTHING, check, result: "ok", text, details };
};

export const warn = (check: string, text: string, mend: string | null, details: readonly string[] = []): CheckLine => {
  return { ...NOTHING, check, result: "warn", text, mend, details };
};

export const skipped = (check: string, text: string): CheckLine => ({ ...NOTHING, check, result: "skipped", text });

export function fail(check: string, exitCode: number, text: string, mend: string | null): CheckLine {
  return { ...NOTHING, check, result: "fail", text, mend, exitCode };
}

/** The line of a check that ended with this error. */
export function failedBy(check: string, error: unknown): CheckLine {
  const exitCode = error instanceof SimcatError ? error.exitCode : EXIT.failed;
  const { text, mend } = splitMend(error instanceof Error ? error.message : String(error));
  return fail(check, exitCode, text, mend);
}

/** Our messages say what happened; then, behind the first semicolon that stands in no brackets, what to do. */
export function splitMend(message: string): { readonly text: string; readonly mend: string | null } {
  let depth = 0;
  for (let at = 0; at < message.length; at += 1) {
    const char = message[at];
    if (char === "(") depth += 1;
    if (char === ")") depth -= 1;
    if (char !== ";" || depth !== 0) continue;
    const mend = message
      .slice(at + 1)
      .trim()
      .replace(/^expected /, "give ");
    return { text: message.slice(0, at), mend };
  }
  return { text: message, mend: null };
}
