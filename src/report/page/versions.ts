import type { ReportRows } from "../../db/read/read-report.ts";
import type { VersionRow } from "../../db/read/report-inventory.ts";
import { formatCount, plural } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { html } from "../html/html.ts";
import { foreign } from "../html/text.ts";
import { numbers, remark, type Section } from "./section.ts";

const SHOWN = 16;

/** Which versions of the packages are in use, and where they lag. */
export function versionsSection({ versions }: ReportRows, draw: Draw): Section | null {
  if (versions.length === 0) return null;
  const finding = findingOf(versions);
  const chosen = new Set(versions.toSorted((a, b) => b.libraries - a.libraries).slice(0, SHOWN));
  // Those of a package stand together, its newest first.
  const shown = versions.filter((row) => chosen.has(row));
  const isNewest = (row: VersionRow) => row.versionsBehind === 0;
  const chart = draw({
    label: `${finding}. Libraries by package and version.`,
    kind: "bars",
    things: "package and version",
    names: shown.map(({ packageName }) => packageName ?? "(no package)"),
    tails: shown.map(({ packageVersion }) => ` ${packageVersion ?? "(no version)"}`),
    unit: "libraries",
    formatValue: formatCount,
    series: [
      { name: "newest in use", tone: "first", values: shown.map((row) => (isNewest(row) ? row.libraries : 0)) },
      {
        name: "behind, or unknown",
        tone: "second",
        hollow: true,
        values: shown.map((row) => (isNewest(row) ? 0 : row.libraries)),
      },
    ],
    ends: shown.map((row) => `${formatCount(row.libraries)}${formatBehind(row)}`),
  });
  const left = versions.length - shown.length;
  const rows = versions
    .slice(0, 200)
    .map((row) => [
      foreign(row.packageName ?? "(no package)"),
      foreign(row.packageVersion ?? "(no version)"),
      formatCount(row.libraries),
      row.versionsBehind === null ? "" : formatCount(row.versionsBehind),
      row.newestVersion === null ? "" : foreign(row.newestVersion),
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
    body: html`${chart}
${remark(
  "The newest is the newest that some library of the organization uses; whether the package has a newer one, simcat does not know.",
  left > 0 ? ` ${plural(left, "version")} with fewer libraries are not drawn.` : null,
)}
${numbers(titles, rows)}`,
  };
}

function findingOf(versions: readonly VersionRow[]): string {
  const sum = (rows: readonly VersionRow[]) => rows.reduce((total, { libraries }) => total + libraries, 0);
  const known = sum(versions.filter(({ versionsBehind }) => versionsBehind !== null));
  const behind = sum(versions.filter(({ versionsBehind }) => (versionsBehind ?? 0) > 0));
  if (known === 0) return "No library says which package and version it uses";
  const libraries = plural(known, "library", "libraries");
  if (behind > 0)
    return `${formatCount(behind)} of ${libraries} ${behind === 1 ? "is" : "are"} behind the newest version of their package in use`;
  return known === 1
    ? "The one library uses the newest version of its package in use"
    : `All ${libraries} use the newest version of their package in use`;
}

function formatBehind({ versionsBehind }: VersionRow): string {
  if (versionsBehind === null) return ", unknown";
  return versionsBehind === 0 ? "" : `, ${formatCount(versionsBehind)} behind`;
}
