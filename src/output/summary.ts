import { formatBytes, formatCount, formatElapsed, formatLibraries, plural } from "../format.ts";
import { formatKey } from "../key.ts";
import { printable, printableLines } from "../printable.ts";
import type { RunSummary } from "../run-summary.ts";
import { mark, PLAIN, toneOf } from "./look.ts";

/** Failures that are printed one by one. The rest is a number and the command that lists them. */
const MAX_FAILURES = 10;

/** The summary at the end of every run, for people. */
export function formatSummary(summary: RunSummary, look = PLAIN): string {
  const { counts, reasons, skips, failures, rejects, warnings, error } = summary;
  const title = `${summary.kind} ${summary.status.replaceAll("_", " ")}`;
  const head = `${mark(look, toneOf(summary.status), title)} in ${formatElapsed(summary.durationMs)} (run ${summary.id})`;
  // A run that ended before it had a listing has nothing to count.
  if (error !== null && counts.librariesListed === 0 && counts.rejects === 0) {
    return [head, `  ${printableLines(error)}`].join("\n");
  }
  const lines = [
    head,
    `  libraries  ${formatCounts({ listed: counts.librariesListed, read: counts.librariesRead, skipped: counts.librariesSkipped, changed: counts.librariesChanged, removed: counts.librariesRemoved, failed: counts.librariesFailed })}`,
    ...(counts.librariesRead > 0 ? [`  read       ${formatCounts(reasons)}`] : []),
    ...(counts.librariesSkipped > 0 ? [`  skipped    ${formatCounts(skips)}`] : []),
    `  scenarios  ${formatCounts({ new: counts.scenariosInserted, changed: counts.scenariosUpdated, removed: counts.scenariosRemoved, "the same": counts.scenariosUnchanged })}`,
    `  service    ${plural(counts.requests, "request")}, ${plural(counts.retries, "retry", "retries")}, ${formatBytes(counts.bytes)}`,
  ];
  if (counts.silentChanges > 0) {
    const changed = `${formatLibraries(counts.silentChanges)} changed under an unchanged date`;
    lines.push(`  silent     ${changed}: the service gave no new date; only full reads find this (SIMCAT_FULL_EVERY)`);
  }
  for (const { key, code, message } of failures.slice(0, MAX_FAILURES)) {
    lines.push(`  failed     ${printable(formatKey(key))}: ${code}: ${printable(message)}`);
  }
  if (failures.length > MAX_FAILURES)
    lines.push(`  failed     … and ${formatCount(failures.length - MAX_FAILURES)} more; see: simcat status`);
  if (failures.length > 0)
    lines.push("             their stored content stays; they are read again, see: simcat status");
  if (counts.rejects > 0) {
    lines.push(`  rejects    ${formatCounts(rejects)}; see: simcat status`);
  }
  for (const { key, message } of warnings) {
    lines.push(`  warning    ${key ? `${printable(formatKey(key))}: ` : ""}${printable(message)}`);
  }
  if (error !== null) lines.push(`  ${printableLines(error)}`);
  return lines.join("\n");
}

/** `3 never read, 1 forced`. */
function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${formatCount(count)} ${reason}`)
    .join(", ");
}

/** The same for machines. Counts and status have the names of their columns in `sync_runs`. */
export function toRunJson(summary: RunSummary, exitCode: number) {
  const { id, kind, status, durationMs, counts, reasons, skips, failures, rejects, warnings, error } = summary;
  return {
    id,
    kind,
    status,
    exit_code: exitCode,
    duration_ms: durationMs,
    ...toSnakeCase(counts),
    reasons: toSnakeCase(reasons),
    skips: toSnakeCase(skips),
    failures: failures.map(({ key, code, message }) => ({ owner: key.owner, library: key.name, code, message })),
    reject_codes: rejects,
    warnings: warnings.map(({ key, ...warning }) =>
      key ? { ...warning, owner: key.owner, library: key.name } : warning,
    ),
    error,
  };
}

/** Values under the names of their columns, or under reasons such as `owes_a_read_rejects`. */
export function toSnakeCase<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  const rename = (name: string) =>
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll(/\W+/g, "_");
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [rename(name), value]));
}
