import { sum } from "d3-array";
import { formatAll, formatBytes, formatCount, formatLibraries, plural } from "../../format.ts";
import { type BarPart, type LegendItem, legend } from "../charts.ts";
import { type Column, foreignText, htmlTable } from "../html/elements.ts";
import { type Html, html } from "../html/html.ts";
import { OF_OWNERS } from "./facts.ts";
import { barColumn, formatPercent, MAX_SHOWN_NAME, note, type Section, shortName } from "./section.ts";

/** One owner; null for the sum of all others, which are many and not comparable with one, so they have no bar. */
type OwnerRow<Sum extends string = never> = Readonly<{ owner: string | null } & Record<"owners" | Sum, number>>;

/** The first rows of `ranked`, which has a `place`, and a row with the sums of the others. */
const byOwner = (sums: readonly string[], ranked: string) => `
SELECT CASE WHEN place <= $max_shown::int THEN owner END AS owner, count(*) AS owners, ${sums.map((name) => `sum("${name}")::float8 AS "${name}"`).join(", ")}
FROM (${ranked}) AS ranked
GROUP BY least(place, $max_shown::int + 1), 1 ORDER BY least(place, $max_shown::int + 1)`;

/**
 * A row with a bar for each owner; null for a single owner, about whom the finding says all.
 * @param detailOf a quantity after the name
 */
function ownerTable<Row extends OwnerRow>(
  rows: readonly Row[],
  detailOf: (row: Row) => string,
  partsOf: (row: Row) => readonly BarPart[],
  amounts: Column<Row>,
): Html | null {
  if (rows.length === 1) return null;
  const nameOf = (row: Row) => {
    const owner = row.owner === null ? plural(row.owners, "other owner") : foreignText(row.owner, MAX_SHOWN_NAME);
    return html`${owner} <small class="nowrap">${detailOf(row)}</small>`;
  };
  const bars = barColumn(rows, (row) => (row.owner === null ? [] : partsOf(row)));
  return htmlTable(rows, [["owner", nameOf], bars, amounts]);
}

/** `ties`: owners with as many bytes, this one included. */
export const storageSection: Section<{ storage: OwnerRow<"libraries" | "bytes" | "ties"> }> = {
  id: "storage",
  queries: {
    storage: byOwner(
      ["libraries", "bytes", "ties"],
      `SELECT owner, libraries, bytes, count(*) OVER (PARTITION BY bytes) AS ties, row_number() OVER (ORDER BY bytes DESC, owner) AS place
  FROM simcat_report.owner_storage WHERE ${OF_OWNERS}`,
    ),
  },
  finding({ libraries: { libraries, sizesUnread, bytes, owners }, storage: [largest] }) {
    if (largest === undefined) return null;
    if (bytes === 0) return sizesUnread < libraries ? "All known sizes are 0" : "No library has a known size";
    const name = shortName(largest.owner ?? "");
    if (owners === 1) return `${name} holds all ${formatBytes(bytes)}`;
    const share = formatPercent(largest.bytes, bytes);
    const whole = `of the ${formatBytes(bytes)} of ${formatCount(owners)} owners`;
    if (largest.ties === 1) return `${name} holds ${share} ${whole}`;
    return `${name} and ${plural(largest.ties - 1, "other owner")} hold ${share} each ${whole}`;
  },
  figure: ({ libraries: { bytes: all, sizesUnread }, storage }) =>
    html`${ownerTable(
      storage,
      ({ libraries }) => formatLibraries(libraries),
      ({ bytes }) => [{ paint: "solid first", value: bytes }],
      ["stored", ({ bytes }) => html`${formatBytes(bytes)} <small>${formatPercent(bytes, all)}</small>`, "number"],
    )}
${note(
  sizesUnread === 0 ? null : `Not included: ${formatLibraries(sizesUnread)} of unknown size. `,
  "Sizes are those of the service, which rounds them.",
)}`,
};

const WITHOUT: LegendItem = { name: "without results", paint: "solid second" };
const WITH: LegendItem = { name: "with results", paint: "hollow first" };

/** `stale`: parents that were edited after their latest result. */
export const parentsSection: Section<{ parents: OwnerRow<"scenarios" | "parents" | "withoutResults" | "stale"> }> = {
  id: "parents",
  queries: {
    /** The runs keep the scenario counts by library; parents without results and stale ones must be looked up. */
    parents: byOwner(
      ["scenarios", "parents", "withoutResults", "stale"],
      `SELECT owner, sum(scenarios) AS scenarios, sum(parents) AS parents, sum(without) AS "withoutResults", sum(stale) AS stale,
    row_number() OVER (ORDER BY sum(without) DESC, sum(parents) DESC, owner) AS place
  FROM (
    SELECT owner, scenario_count AS scenarios, parent_count AS parents, 0 AS without, 0 AS stale FROM simcat_report.libraries
    UNION ALL SELECT owner, 0, 0, 1, 0 FROM simcat_report.parents_without_results
    UNION ALL SELECT owner, 0, 0, 0, 1 FROM simcat_report.stale_results
  ) AS found WHERE ${OF_OWNERS} GROUP BY owner HAVING sum(scenarios) > 0`,
    ),
  },
  finding({ parents }) {
    if (sum(parents, (row) => row.scenarios) === 0) return null;
    const all = sum(parents, (row) => row.parents);
    const without = sum(parents, (row) => row.withoutResults);
    if (all === 0) return "There are results, but no parents";
    if (all === 1) return without === 0 ? "The only parent has results" : "The only parent has no results";
    if (without === 0) return `${formatAll(all)} parents have results`;
    return `${formatCount(without)} of ${formatCount(all)} parents (${formatPercent(without, all)}) ${without === 1 ? "has" : "have"} no results`;
  },
  figure({ parents }) {
    if (sum(parents, (row) => row.parents) === 0) return null;
    const stale = sum(parents, (row) => row.stale);
    return html`${parents.length === 1 ? null : legend([WITHOUT, WITH])}${ownerTable(
      parents,
      (row) => plural(row.scenarios - row.parents, "result"),
      (row) => [
        { ...WITHOUT, value: row.withoutResults },
        { ...WITH, value: row.parents - row.withoutResults },
      ],
      ["without results", (row) => `${formatCount(row.withoutResults)} of ${formatCount(row.parents)}`, "number"],
    )}
${note(
  "A parent is a scenario that is not a result. It has results if a live result of its library names it as its parent. ",
  stale === 0
    ? null
    : `${plural(stale, "parent was", "parents were")} edited after the latest result: see the view simcat_report.stale_results.`,
)}`;
  },
};

interface VersionRow {
  readonly packageName: string | null;
  readonly packageVersion: string | null;
  readonly libraries: number;
  readonly newestVersion: string | null;
  /** Null if the version or the package is not known. */
  readonly versionsBehind: number | null;
}

const NEWEST: LegendItem = { name: "newest in use", paint: "solid first" };
const OLDER: LegendItem = { name: "older, or unknown", paint: "hollow first" };

/** The versions of the packages that libraries use, and how far they are behind. */
export const versionsSection: Section<{ versions: VersionRow }> = {
  id: "versions",
  queries: {
    /** The newest version is that of the whole organization, also if only some owners are counted. */
    versions: `
SELECT l.package_name AS "packageName", l.package_version AS "packageVersion", l.libraries,
  v.newest_version AS "newestVersion", v.versions_behind AS "versionsBehind"
FROM (
  SELECT package_name, package_version, count(*) AS libraries
  FROM simcat_report.libraries WHERE ${OF_OWNERS} GROUP BY 1, 2
) AS l
JOIN simcat_report.package_versions v
  ON v.package_name IS NOT DISTINCT FROM l.package_name AND v.package_version IS NOT DISTINCT FROM l.package_version
ORDER BY l.package_name NULLS LAST, v.versions_behind NULLS LAST, l.package_version`,
  },
  finding({ versions }) {
    if (versions.length === 0) return null;
    const known = sum(versions, (row) => (row.versionsBehind === null ? 0 : row.libraries));
    const behind = sum(versions, (row) => ((row.versionsBehind ?? 0) > 0 ? row.libraries : 0));
    if (known === 0) return "No library names its package and version";
    const which = known < sum(versions, (row) => row.libraries) ? " of known version" : "";
    if (known === 1)
      return `The only library${which} ${behind === 1 ? "does not use" : "uses"} the newest version of its package in use`;
    if (behind > 0)
      return `${formatCount(behind)} of ${formatLibraries(known)}${which} ${behind === 1 ? "does not use the newest version of its" : "do not use the newest version of their"} package in use`;
    return `${formatAll(known)} libraries${which} use the newest version of their package in use`;
  },
  figure({ versions }) {
    // Those with the most libraries, in the order of the query: by package, its newest version first.
    const largest = new Set(versions.toSorted((a, b) => b.libraries - a.libraries).slice(0, 12));
    const open = versions.filter((row) => largest.has(row));
    const others = versions.filter((row) => !largest.has(row));
    const columns: readonly Column<VersionRow>[] = [
      ["package and version", nameVersion],
      barColumn(versions, (row) => [{ ...(row.versionsBehind === 0 ? NEWEST : OLDER), value: row.libraries }]),
      ["libraries", ({ libraries }) => libraries, "number"],
    ];
    const folded = html`<details><summary>${plural(others.length, "version")} with fewer libraries</summary>
${htmlTable(others.slice(0, 200), columns)}</details>`;
    return html`${legend([NEWEST, OLDER])}${htmlTable(open, columns)}
${note("The newest version is the newest one that a library of the organization uses. simcat does not know whether the package has a newer one.")}
${others.length === 0 ? null : folded}`;
  },
};

/** `landscape 4.3.5`, and `1 version behind 4.3.6`. */
function nameVersion({ packageName, packageVersion, versionsBehind, newestVersion }: VersionRow): Html {
  const name = foreignText(packageName ?? "(no package)", MAX_SHOWN_NAME);
  const version = foreignText(packageVersion ?? "(no version)", MAX_SHOWN_NAME);
  const behind = versionsBehind === null ? "unknown" : `${plural(versionsBehind, "version")} behind ${newestVersion}`;
  return html`${name} ${version} <small class="nowrap">${versionsBehind === 0 ? "" : behind}</small>`;
}
