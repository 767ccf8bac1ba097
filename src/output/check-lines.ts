import { EXIT, SimcatError, toError } from "../errors.ts";
import { plural } from "../format.ts";
import { printable } from "../printable.ts";
import { type Look, mark, PLAIN, SYMBOLS, type Tone } from "./look.ts";

/** The result of one check. */
export interface CheckLine {
  readonly check: string;
  readonly result: "ok" | "warn" | "fail" | "skipped";
  readonly text: string;
  /** The fix; null if there is nothing to fix, or if the text includes it. */
  readonly hint: string | null;
  readonly details: readonly string[];
  /** The exit code of a run in this state; null unless the check failed. */
  readonly exitCode: number | null;
}

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

const LABELS: Readonly<Record<CheckLine["result"], string>> = { ok: "ok", warn: "warn", fail: "FAIL", skipped: "skip" };
const TONES: Readonly<Record<CheckLine["result"], Tone>> = { ok: "good", warn: "warn", fail: "bad", skipped: "quiet" };

/** The checks for people, one line each, and the number of failures. */
export function formatChecks(lines: readonly CheckLine[], look = PLAIN): string {
  const count = (wanted: CheckLine["result"]) => lines.filter(({ result }) => result === wanted).length;
  const warnings = count("warn") === 0 ? "" : `, ${plural(count("warn"), "warning")}`;
  const total = count("fail") > 0 ? `${plural(count("fail"), "check")} failed` : "ready to run";
  const tone = count("fail") > 0 ? "bad" : count("warn") > 0 ? "warn" : "good";
  return `${formatCheckLines(lines, look)}\n\n${mark(look, tone, `${total}${warnings}`)}`;
}

export function formatCheckLines(lines: readonly CheckLine[], { hasSymbols, paint }: Look = PLAIN): string {
  const width = Math.max(0, ...lines.map(({ check }) => check.length));
  const formatted = lines.flatMap(({ check, result, text, hint, details }) => {
    const withHint = hint === null ? text : `${text}; hint: ${hint}`;
    const label = hasSymbols ? SYMBOLS[TONES[result]] : LABELS[result].padEnd(4);
    const indent = " ".repeat(label.length + width + 4);
    return [
      `${paint(TONES[result], label)}  ${check.padEnd(width)}  ${printable(withHint)}`,
      ...details.map((detail) => indent + printable(detail)),
    ];
  });
  return formatted.join("\n");
}

/** The checks for machines. `mask` takes the secrets out of a message. */
export function toChecksJson(lines: readonly CheckLine[], mask: (message: string) => string) {
  return lines.map(({ check, result, text, hint, details, exitCode }) => {
    const masked = { text: mask(text), hint: hint && mask(hint), details: details.map(mask) };
    return { check, result, ...masked, exit_code: exitCode };
  });
}

/** The exit code of the first failed check. */
export function checkExitCode(lines: readonly CheckLine[]): number {
  return lines.find(({ exitCode }) => exitCode !== null)?.exitCode ?? EXIT.ok;
}
