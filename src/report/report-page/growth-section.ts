import { scaleLinear, scaleUtc } from "d3-scale";
import { byteUnitFor, formatBytes, formatCount, formatLibraries, plural } from "../../format.ts";
import { formatTick, lineChart, timeTicks } from "../charts.ts";
import { column, formatDay, numbers } from "../html/elements.ts";
import { type Html, html } from "../html/html.ts";
import { declareSection, note, numbersTable, OF_OWNERS, query } from "./section.ts";

interface GrowthRow extends Readonly<Record<"libraries" | "parents" | "results" | "bytes", number>> {
  /** A day in UTC. */
  readonly day: Date;
}

/** The daily snapshots. Two days make a line; one is printed as numbers. */
export const growthSection = declareSection({
  id: "growth",
  isWide: true,
  queries: {
    /** The last two years. */
    growth: query<GrowthRow>(`
SELECT day::timestamp AT TIME ZONE 'UTC' AS day, sum(libraries)::float8 AS libraries, sum(parents)::float8 AS parents,
  sum(results)::float8 AS results, sum(bytes)::float8 AS bytes
FROM simcat_report.daily_owners WHERE ${OF_OWNERS} AND day > (now() AT TIME ZONE 'UTC')::date - 731 GROUP BY day ORDER BY day`),
  },
  finding({ growth, libraries: now }) {
    const [first] = growth;
    const last = growth.at(-1);
    if (first === undefined || last === undefined)
      return now.libraries === 0 ? null : "Growth is recorded from the next good run on";
    const since = formatDay(first.day);
    if (first === last) return `Growth is recorded since ${since}`;
    const libraries = last.libraries - first.libraries;
    const scenarios = last.parents + last.results - first.parents - first.results;
    if (libraries === 0 && scenarios === 0) return `As many libraries and scenarios as on ${since}`;
    return `${difference(libraries, "library", "libraries")} and ${difference(scenarios, "scenario", "scenarios")} since ${since}`;
  },
  figure({ growth }) {
    const [first] = growth;
    const last = growth.at(-1);
    if (first === undefined || last === undefined) return null;
    if (first === last) {
      const { libraries, parents, results, bytes } = last;
      const text = `${formatLibraries(libraries)}, ${plural(parents, "parent")}, ${plural(results, "result")}, ${formatBytes(bytes)}`;
      return note(`The first snapshot: ${text}. The first good run of each day adds one.`);
    }
    // Few enough rows to read or to listen to, for readers who do not see the picture.
    const step = Math.ceil(growth.length / MAX_LISTED_DAYS);
    const rows = growth.filter((row, index) => index % step === 0 || row === last);
    const remark = step === 1 ? null : note(`The first snapshot, one in ${step} of the others, and the last one.`);
    const quantities = QUANTITIES.map(({ title, of, format }) => numbers<GrowthRow>(title, (row) => format(of(row))));
    return html`<div class="panels">${QUANTITIES.map((quantity) => panel(quantity, growth, first, last))}</div>
${note("One snapshot per day (UTC), by the first good run. Libraries of unknown size are not in the storage.")}
${numbersTable(rows, [column("day (UTC)", ({ day }) => formatDay(day)), ...quantities], remark)}`;
  },
});

/** `12 more libraries`, `1 fewer scenario`. */
function difference(by: number, one: string, many: string): string {
  const word = by < 0 ? "fewer" : "more";
  return by === 0 ? `no more ${many}` : plural(Math.abs(by), `${word} ${one}`, `${word} ${many}`);
}

interface Quantity {
  readonly title: string;
  readonly of: (row: GrowthRow) => number;
  readonly format: (amount: number) => string;
}

const QUANTITIES: readonly Quantity[] = [
  { title: "libraries", of: (row) => row.libraries, format: formatCount },
  { title: "stored", of: (row) => row.bytes, format: formatBytes },
  { title: "parents", of: (row) => row.parents, format: formatCount },
  { title: "results", of: (row) => row.results, format: formatCount },
];

const MAX_LISTED_DAYS = 31;

/** A share of the height above the largest amount, for the label of the last one. */
const HEADROOM = 1.1;

function panel({ title, of, format }: Quantity, growth: readonly GrowthRow[], first: GrowthRow, last: GrowthRow): Html {
  const largest = Math.max(...growth.map(of));
  const bytes = format === formatBytes ? byteUnitFor(largest) : null;
  const scaled = (row: GrowthRow) => of(row) / (bytes?.size ?? 1);
  const x = scaleUtc().domain([first.day, last.day]);
  const y = scaleLinear()
    .domain([0, Math.max((HEADROOM * largest) / (bytes?.size ?? 1), 1)])
    .nice(4);
  const chart = lineChart({
    label: `${title} by day, from ${formatDay(first.day)}: now ${format(of(last))}`,
    unit: bytes === null ? title : `${title}, ${bytes.unit}`,
    points: growth.map((row) => ({ x: row.day.getTime(), y: scaled(row) })),
    x: { scale: x, ticks: timeTicks(x) },
    y: { scale: y, ticks: y.ticks(4).map((value) => ({ value, text: formatTick(value) })) },
    marks: [{ x: last.day.getTime(), y: scaled(last), text: format(of(last)) }],
  });
  return html`<figure>${chart}</figure>`;
}
