import { formatKey } from "../key.ts";
import type { RunReport } from "../model.ts";
import { printable, printableLines } from "../printable.ts";
import { formatBytes, formatElapsed, plural } from "./amounts.ts";

/** Failures shown in full; the rest are a number and the command that shows them. */
const SHOWN = 10;

/** The one summary that ends every run. */
export function formatSummary(report: RunReport): string {
  const { counts, reasons, skips, failures, rejects, warnings, error } = report;
  const head = `${report.kind} ${report.status.replaceAll("_", " ")} in ${formatElapsed(report.durationMs)} (run ${report.id})`;
  const said = (some: Readonly<Record<string, number>>) =>
    Object.entries(some)
      .map(([reason, count]) => `${count} ${reason}`)
      .join(", ");
  // A run that ended before it had a listing has nothing to count.
  if (error !== null && counts.librariesListed === 0 && counts.rejects === 0) {
    return [head, `  ${printableLines(error)}`].join("\n");
  }
  const lines = [
    head,
    `  libraries  ${counts.librariesListed} listed, ${counts.librariesRead} read, ${counts.librariesSkipped} skipped, ${counts.librariesChanged} changed, ${counts.librariesRemoved} removed, ${counts.librariesFailed} failed`,
    ...(counts.librariesRead > 0 ? [`  read       ${said(reasons)}`] : []),
    ...(counts.librariesSkipped > 0 ? [`  skipped    ${said(skips)}`] : []),
    `  scenarios  ${counts.scenariosInserted} new, ${counts.scenariosUpdated} changed, ${counts.scenariosRemoved} removed, ${counts.scenariosUnchanged} the same`,
    `  service    ${plural(counts.requests, "request")}, ${plural(counts.retries, "retry", "retries")}, ${formatBytes(counts.bytes)}`,
  ];
  if (counts.silentChanges > 0) {
    const said = `${plural(counts.silentChanges, "library", "libraries")} changed under an unchanged date`;
    lines.push(
      `  silent     ${said}: the service did not date these changes; only full reads see them (SIMCAT_FULL_EVERY)`,
    );
  }
  for (const { key, code, message } of failures.slice(0, SHOWN)) {
    lines.push(`  failed     ${printable(formatKey(key))}: ${code}: ${printable(message)}`);
  }
  if (failures.length > SHOWN) lines.push(`  failed     … and ${failures.length - SHOWN} more; see: simcat status`);
  if (failures.length > 0)
    lines.push("             what is stored of these stays as it was; the next run reads them again");
  if (counts.rejects > 0) {
    lines.push(`  rejects    ${said(rejects)}; what could be read is stored; see: simcat status`);
  }
  for (const { key, message } of warnings) {
    lines.push(`  warning    ${key ? `${printable(formatKey(key))}: ` : ""}${printable(message)}`);
  }
  if (error !== null) lines.push(`  ${printableLines(error)}`);
  return lines.join("\n");
}
