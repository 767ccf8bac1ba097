import { sum } from "d3-array";
import { formatBytes, formatCount, formatLibraries, plural } from "../../format.ts";
import { truncate } from "../../output/table.ts";
import { printable } from "../../printable.ts";
import { type Bar, barChart, type LegendItem, legend } from "../charts.ts";
import { type Column, column, foreignText, numbers } from "../html/elements.ts";
import { type Html, html } from "../html/html.ts";
import { declareSection, formatPercent, note, numbersTable, OF_OWNERS, query } from "./section.ts";

/** One owner; null for the sum of all others, which are many and not comparable with one, so they are not drawn. */
interface OwnerRow {
  readonly owner: string | null;
  readonly owners: number;
}

/** The first rows of `ranked`, which has a `place`, and a row with the sums of the others. */
const byOwner = (sums: readonly string[], ranked: string) => `
SELECT CASE WHEN place <= $max_shown::int THEN owner END AS owner, count(*) AS owners, ${sums.map((name) => `sum("${name}")::float8 AS "${name}"`).join(", ")}
FROM (${ranked}) AS ranked
GROUP BY least(place, $max_shown::int + 1), 1 ORDER BY least(place, $max_shown::int + 1)`;

interface OwnerFigure<Row extends OwnerRow> {
  readonly label: string;
  readonly legend?: readonly LegendItem[];
  readonly barOf: (row: Row) => Pick<Bar, "parts" | "end">;
  /** The sums of those that are not drawn. */
  readonly formatOthers: (row: Row) => string;
  readonly remark: Html | null;
  readonly columns: readonly Column<Row>[];
}

const formatOtherOwners = ({ owners }: OwnerRow) => plural(owners, "other owner");

/** A bar for each owner, and a table. The finding says all about a single owner. */
function ownerFigure<Row extends OwnerRow>(rows: readonly Row[], figure: OwnerFigure<Row>): Html {
  const bars = rows.flatMap((row) => (row.owner === null ? [] : [{ name: row.owner, ...figure.barOf(row) }]));
  const others = rows.find(({ owner }) => owner === null);
  const owners = column<Row>("owner", (row) => (row.owner === null ? formatOtherOwners(row) : foreignText(row.owner)));
  const isDrawn = rows.length > 1 && bars.some(({ parts }) => parts.some(({ value }) => value > 0));
  return html`${!isDrawn ? null : [legend(figure.legend ?? []), barChart(figure.label, bars)]}
${others === undefined ? null : note(`Not drawn: ${formatOtherOwners(others)} with ${figure.formatOthers(others)}.`)}
${figure.remark}
${numbersTable(rows, [owners, ...figure.columns])}`;
}

/** `ties`: owners with as many bytes, this one included. */
type StorageRow = OwnerRow & Readonly<Record<"libraries" | "bytes" | "ties", number>>;

/** The storage of libraries. */
export const storageSection = declareSection({
  id: "storage",
  queries: {
    storage: query<StorageRow>(
      byOwner(
        ["libraries", "bytes", "ties"],
        `SELECT owner, libraries, bytes, count(*) OVER (PARTITION BY bytes) AS ties, row_number() OVER (ORDER BY bytes DESC, owner) AS place
  FROM simcat_report.owner_storage WHERE ${OF_OWNERS}`,
      ),
    ),
  },
  finding({ libraries: { bytes, owners }, storage: [largest] }) {
    if (largest === undefined) return null;
    if (bytes === 0) return "No library has a known size";
    const name = truncate(printable(largest.owner ?? ""), 48);
    if (owners === 1) return `${name} holds all ${formatBytes(bytes)}`;
    const share = formatPercent(largest.bytes, bytes);
    const hold =
      largest.ties === 1
        ? `${name} holds ${share}`
        : `${name} and ${plural(largest.ties - 1, "other owner")} hold ${share} each`;
    return `${hold} of the ${formatBytes(bytes)} of ${formatCount(owners)} owners`;
  },
  figure: ({ libraries: { bytes: all, sizesUnread }, storage }, finding) =>
    ownerFigure(storage, {
      label: `${finding}. Storage by owner.`,
      barOf: ({ bytes }) => ({ parts: [{ tone: "first", value: bytes }], end: formatBytes(bytes) }),
      formatOthers: ({ bytes }) => `${formatBytes(bytes)} (${formatPercent(bytes, all)})`,
      remark: note(
        sizesUnread === 0 ? null : `Not included: ${formatLibraries(sizesUnread)} of unknown size. `,
        "Sizes are those of the service, which rounds them.",
      ),
      columns: [
        numbers("libraries", ({ libraries }) => libraries),
        numbers("stored", ({ bytes }) => formatBytes(bytes)),
        numbers("share", ({ bytes }) => formatPercent(bytes, all)),
      ],
    }),
});

/** `stale`: parents that were edited after their latest result. */
type ParentsRow = OwnerRow & Readonly<Record<"scenarios" | "parents" | "withoutResults" | "stale", number>>;

const WITHOUT: LegendItem = { name: "without results", tone: "second" };
const WITH: LegendItem = { name: "with results", tone: "first", hollow: true };

/** The parents with and without results. */
export const parentsSection = declareSection({
  id: "parents",
  queries: {
    /** The runs keep the scenario counts by library; parents without results and stale ones must be looked up. */
    parents: query<ParentsRow>(
      byOwner(
        ["scenarios", "parents", "withoutResults", "stale"],
        `
  SELECT owner, scenarios, parents, coalesce(w.count, 0) AS "withoutResults", coalesce(stale.count, 0) AS stale,
    row_number() OVER (ORDER BY coalesce(w.count, 0) DESC, parents DESC, owner) AS place
  FROM (
    SELECT owner, sum(scenario_count) AS scenarios, sum(parent_count) AS parents
    FROM simcat_report.libraries WHERE scenario_count > 0 AND ${OF_OWNERS} GROUP BY owner
  ) AS all_scenarios
  LEFT JOIN (
    SELECT owner, count(*) FROM simcat_report.parents_without_results WHERE ${OF_OWNERS} GROUP BY owner
  ) AS w USING (owner)
  LEFT JOIN (SELECT owner, count(*) FROM simcat_report.stale_results WHERE ${OF_OWNERS} GROUP BY owner) AS stale USING (owner)
`,
      ),
    ),
  },
  finding({ parents }) {
    if (sum(parents, (row) => row.scenarios) === 0) return null;
    const all = sum(parents, (row) => row.parents);
    const without = sum(parents, (row) => row.withoutResults);
    if (all === 0) return "There are results, but no parents";
    if (all === 1) return without === 0 ? "The only parent has results" : "The only parent has no results";
    if (without === 0) return `All ${formatCount(all)} parents have results`;
    return `${formatCount(without)} of ${formatCount(all)} parents (${formatPercent(without, all)}) ${without === 1 ? "has" : "have"} no results`;
  },
  figure({ parents }, finding) {
    if (sum(parents, (row) => row.parents) === 0) return null;
    const stale = sum(parents, (row) => row.stale);
    return ownerFigure(parents, {
      label: `${finding}. Parents without and with results, by owner.`,
      legend: [WITHOUT, WITH],
      barOf: ({ parents: count, withoutResults }) => ({
        parts: [
          { ...WITHOUT, value: withoutResults },
          { ...WITH, value: count - withoutResults },
        ],
        end: `${formatCount(withoutResults)} of ${formatCount(count)}`,
      }),
      formatOthers: (row) => `${formatCount(row.withoutResults)} of ${plural(row.parents, "parent")}`,
      remark: note(
        "A parent is a scenario that is not a result. It has results if a live result of its library names it as its parent. ",
        stale === 0
          ? null
          : `${plural(stale, "parent was", "parents were")} edited after the latest result: see the view simcat_report.stale_results.`,
      ),
      columns: [
        numbers("without results", (row) => row.withoutResults),
        numbers("with results", (row) => row.parents - row.withoutResults),
        numbers("results", (row) => row.scenarios - row.parents),
      ],
    });
  },
});
