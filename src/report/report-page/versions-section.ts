import type { ReportRows } from "../../db/read/read-report.ts";
import type { VersionRow } from "../../db/read/report-inventory.ts";
import { formatCount, plural } from "../../format.ts";
import { barChart } from "../charts/bar-chart.ts";
import { type LegendItem, legend } from "../charts/svg.ts";
import { foreignText } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { note, numbersTable, type Section } from "./section.ts";

const MAX_BARS = 12;
const MAX_ROWS = 200;
const NEWEST: LegendItem = { name: "newest in use", tone: "first" };
const OLDER: LegendItem = { name: "older, or unknown", tone: "first", hollow: true };

/** The versions of the packages that libraries use, and how far they are behind. */
export function versionsSection({ versions }: ReportRows): Section | null {
  if (versions.length === 0) return null;
  const finding = findingOf(versions);
  const chosen = new Set(versions.toSorted((a, b) => b.libraries - a.libraries).slice(0, MAX_BARS));
  // In the order of the query: by package, its newest version first.
  const shown = versions.filter((row) => chosen.has(row));
  const chart = barChart({
    label: `${finding}. Libraries by package and version.`,
    bars: shown.map((row) => ({
      name: row.packageName ?? "(no package)",
      tail: ` ${row.packageVersion ?? "(no version)"}`,
      parts: [{ ...(row.versionsBehind === 0 ? NEWEST : OLDER), value: row.libraries }],
      end: `${formatCount(row.libraries)}${formatBehind(row)}`,
    })),
  });
  const notDrawn = versions.length - shown.length;
  const rows = versions
    .slice(0, MAX_ROWS)
    .map((row) => [
      foreignText(row.packageName ?? "(no package)"),
      foreignText(row.packageVersion ?? "(no version)"),
      formatCount(row.libraries),
      row.versionsBehind === null ? "" : formatCount(row.versionsBehind),
      row.newestVersion === null ? "" : foreignText(row.newestVersion),
    ]);
  const titles = [
    { title: "package" },
    { title: "version" },
    { title: "libraries", isNumber: true },
    { title: "versions behind", isNumber: true },
    { title: "newest in use" },
  ];
  return {
    id: "versions",
    finding,
    body: html`${legend([NEWEST, OLDER])}${chart}
${note(
  "The newest version is the newest one that a library of the organization uses. simcat does not know whether the package has a newer one.",
  notDrawn > 0 ? ` Not drawn: ${plural(notDrawn, "version")} with fewer libraries.` : null,
)}
${numbersTable(titles, rows)}`,
  };
}

function findingOf(versions: readonly VersionRow[]): string {
  const sum = (rows: readonly VersionRow[]) => rows.reduce((total, { libraries }) => total + libraries, 0);
  const known = sum(versions.filter(({ versionsBehind }) => versionsBehind !== null));
  const behind = sum(versions.filter(({ versionsBehind }) => (versionsBehind ?? 0) > 0));
  if (known === 0) return "No library names its package and version";
  const libraries = plural(known, "library", "libraries");
  if (behind > 0)
    return `${formatCount(behind)} of ${libraries} ${behind === 1 ? "does" : "do"} not use the newest version of their package in use`;
  return known === 1
    ? "The only library uses the newest version of its package in use"
    : `All ${libraries} use the newest version of their package in use`;
}

function formatBehind({ versionsBehind }: VersionRow): string {
  if (versionsBehind === null) return " (unknown)";
  return versionsBehind === 0 ? "" : ` (${plural(versionsBehind, "version")} behind)`;
}
