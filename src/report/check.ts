import { EXIT } from "../errors.ts";
import { printable } from "../printable.ts";
import { plural } from "./amounts.ts";

/** What one check found. */
export interface CheckLine {
  readonly check: string;
  readonly result: "ok" | "warn" | "fail" | "skipped";
  readonly text: string;
  /** What to do about it; null where there is nothing to do, or the text says it. */
  readonly hint: string | null;
  readonly details: readonly string[];
  /** What a run would end with; null unless it failed. */
  readonly exitCode: number | null;
}

const LABELS: Readonly<Record<CheckLine["result"], string>> = { ok: "ok", warn: "warn", fail: "FAIL", skipped: "skip" };

/** The checks for people, a line each, and how many of them failed. */
export function formatChecks(lines: readonly CheckLine[]): string {
  const width = Math.max(0, ...lines.map(({ check }) => check.length));
  const told = lines.flatMap(({ check, result, text, hint, details }) => {
    const said = hint === null ? text : `${text}; hint: ${hint}`;
    const indent = " ".repeat(width + 8);
    return [
      `${LABELS[result].padEnd(4)}  ${check.padEnd(width)}  ${printable(said)}`,
      ...details.map((detail) => indent + printable(detail)),
    ];
  });
  return [...told, "", sayTotal(lines)].join("\n");
}

function sayTotal(lines: readonly CheckLine[]): string {
  const failed = lines.filter(({ result }) => result === "fail").length;
  const warned = lines.filter(({ result }) => result === "warn").length;
  const warnings = warned === 0 ? "" : `, ${plural(warned, "warning")}`;
  if (failed > 0) return `${plural(failed, "check")} failed${warnings}`;
  return `everything that a run needs is there${warnings}`;
}

/** The checks for machines. */
export function toChecksJson(lines: readonly CheckLine[]) {
  return lines.map(({ check, result, text, hint, details, exitCode }) => {
    return { check, result, text, hint, details, exit_code: exitCode };
  });
}

/** That of the first check that failed. */
export function exitCodeOf(lines: readonly CheckLine[]): number {
  return lines.find(({ exitCode }) => exitCode !== null)?.exitCode ?? EXIT.ok;
}
