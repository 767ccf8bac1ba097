import { sum } from "d3-array";
import { formatCount, formatLibraries, plural } from "../../format.ts";
import { barChart, type LegendItem, legend } from "../charts.ts";
import { column, foreignText, numbers } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { declareSection, note, numbersTable, OF_OWNERS, query } from "./section.ts";

interface VersionRow {
  readonly packageName: string | null;
  readonly packageVersion: string | null;
  readonly libraries: number;
  readonly newestVersion: string | null;
  /** Null if the version or the package is not known. */
  readonly versionsBehind: number | null;
}

const MAX_BARS = 12;
const MAX_LISTED_VERSIONS = 200;
const NEWEST: LegendItem = { name: "newest in use", tone: "first" };
const OLDER: LegendItem = { name: "older, or unknown", tone: "first", hollow: true };

const packageText = ({ packageName }: VersionRow) => packageName ?? "(no package)";
const versionText = ({ packageVersion }: VersionRow) => packageVersion ?? "(no version)";

/** The versions of the packages that libraries use, and how far they are behind. */
export const versionsSection = declareSection({
  id: "versions",
  queries: {
    /** The newest version is that of the whole organization, also if only some owners are counted. */
    versions: query<VersionRow>(`
SELECT l.package_name AS "packageName", l.package_version AS "packageVersion", l.libraries,
  v.newest_version AS "newestVersion", v.versions_behind AS "versionsBehind"
FROM (
  SELECT package_name, package_version, count(*) AS libraries
  FROM simcat_report.libraries WHERE ${OF_OWNERS} GROUP BY 1, 2
) AS l
JOIN simcat_report.package_versions v
  ON v.package_name IS NOT DISTINCT FROM l.package_name AND v.package_version IS NOT DISTINCT FROM l.package_version
ORDER BY l.package_name NULLS LAST, v.versions_behind NULLS LAST, l.package_version`),
  },
  finding({ versions }) {
    if (versions.length === 0) return null;
    const known = sum(versions, (row) => (row.versionsBehind === null ? 0 : row.libraries));
    const behind = sum(versions, (row) => ((row.versionsBehind ?? 0) > 0 ? row.libraries : 0));
    if (known === 0) return "No library names its package and version";
    if (behind > 0)
      return `${formatCount(behind)} of ${formatLibraries(known)} ${behind === 1 ? "does" : "do"} not use the newest version of their package in use`;
    return known === 1
      ? "The only library uses the newest version of its package in use"
      : `All ${formatLibraries(known)} use the newest version of their package in use`;
  },
  figure({ versions }, finding) {
    const chosen = new Set(versions.toSorted((a, b) => b.libraries - a.libraries).slice(0, MAX_BARS));
    // In the order of the query: by package, its newest version first.
    const shown = versions.filter((row) => chosen.has(row));
    const chart = barChart(
      `${finding}. Libraries by package and version.`,
      shown.map((row) => ({
        name: packageText(row),
        tail: ` ${versionText(row)}`,
        parts: [{ ...(row.versionsBehind === 0 ? NEWEST : OLDER), value: row.libraries }],
        end: `${formatCount(row.libraries)}${formatBehind(row)}`,
      })),
    );
    const notDrawn = versions.length - shown.length;
    return html`${legend([NEWEST, OLDER])}${chart}
${note(
  "The newest version is the newest one that a library of the organization uses. simcat does not know whether the package has a newer one.",
  notDrawn > 0 ? ` Not drawn: ${plural(notDrawn, "version")} with fewer libraries.` : null,
)}
${numbersTable(versions.slice(0, MAX_LISTED_VERSIONS), [
  column("package", (row) => foreignText(packageText(row))),
  column("version", (row) => foreignText(versionText(row))),
  numbers("libraries", (row) => row.libraries),
  numbers("versions behind", (row) => row.versionsBehind ?? ""),
  column("newest in use", ({ newestVersion }) => (newestVersion === null ? "" : foreignText(newestVersion))),
])}`;
  },
});

function formatBehind({ versionsBehind }: VersionRow): string {
  if (versionsBehind === null) return " (unknown)";
  return versionsBehind === 0 ? "" : ` (${plural(versionsBehind, "version")} behind)`;
}
