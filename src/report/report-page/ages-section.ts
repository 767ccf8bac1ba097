import { cumsum } from "d3-array";
import { scaleLinear, scaleSqrt } from "d3-scale";
import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../../format.ts";
import { type Axis, lineChart } from "../charts/line-chart.ts";
import { html } from "../html/html.ts";
import { formatPercent, note, numbersTable, type Section } from "./section.ts";

const TICKS = [
  { days: 0, text: "0" },
  { days: 30, text: "30 d" },
  { days: 90, text: "90 d" },
  { days: 182, text: "½ y" },
  { days: 365, text: "1 y" },
  { days: 730, text: "2 y" },
  { days: 1_826, text: "5 y" },
  { days: 3_652, text: "10 y" },
];
const MARKED_DAYS = [30, 90, 365];

/** The share of libraries whose last work is at most a given time ago. */
export function agesSection({ libraries, ages }: ReportRows): Section | null {
  const { libraries: all, unknown } = libraries;
  const oldest = ages.at(-1)?.days;
  if (all === 0) return null;
  const finding = findingOf(libraries);
  // The finding says all about a single library.
  if (oldest === undefined || all === 1) return { id: "age", finding, body: html`` };
  const dated = all - unknown;
  const counts = [...cumsum(ages, (row) => row.libraries)];
  // A library of 3 whole days is less than 4 days old.
  const points = ages.map(({ days }, index) => ({ x: days + 1, y: (counts[index] ?? 0) / dated }));
  const shareWithin = (days: number) => points.findLast(({ x }) => x <= days)?.y ?? 0;
  const end = Math.max(90, 1.05 * (oldest + 1));
  const marks = MARKED_DAYS.filter((days) => days < end).map((days) => {
    const share = shareWithin(days);
    return { x: days, y: share, text: formatPercent(Math.round(share * dated), dated) };
  });
  const chart = lineChart({
    label: `${finding}. Share of libraries by the time since their last work.`,
    unit: "% of libraries with work within this time",
    points: [{ x: 0, y: 0 }, ...points, { x: end, y: 1 }],
    isStepped: true,
    xAxis: ageAxis(end),
    yAxis: percentAxis,
    marks,
  });
  return {
    id: "age",
    finding,
    body: html`${chart}
${note(
  "Last work is the newest date of a library and its scenarios. The time axis is a square root, so that recent days have room. ",
  unknown === 0 ? null : `Without ${plural(unknown, "library", "libraries")} of unknown date.`,
)}
${numbersTable(TITLES, tableRows(libraries))}`,
  };
}

const TITLES = [
  { title: "state" },
  { title: "last work" },
  ...["libraries", "share"].map((title) => ({ title, isNumber: true })),
];

const tableRows = ({ libraries: all, ...counts }: ReportRows["libraries"]) =>
  (
    [
      ["active", "within 30 days", counts.active],
      ["quiet", "within 90 days", counts.quiet],
      ["stale", "over 90 days ago", counts.stale],
      ["unknown", "no date, or one in the future", counts.unknown],
    ] as const
  ).map(([state, meaning, count]) => [state, meaning, formatCount(count), formatPercent(count, all)]);

const ageAxis =
  (end: number): Axis =>
  (from, to) => {
    const position = scaleSqrt([0, end], [from, to]);
    const ticks = TICKS.filter(({ days }) => days <= end).map(({ days, text }) => ({ at: position(days), text }));
    return { position, ticks };
  };

const percentAxis: Axis = (from, to) => {
  const position = scaleLinear([0, 1], [from, to]);
  return { position, ticks: [0, 0.25, 0.5, 0.75, 1].map((share) => ({ at: position(share), text: `${100 * share}` })) };
};

function findingOf({ libraries: all, medianDays, stale, unknown }: ReportRows["libraries"]): string {
  if (medianDays === null) return "No library has a date that simcat can use";
  const ago = medianDays === 0 ? "within the last day" : `${plural(medianDays, "day")} ago`;
  if (all === 1) return `The last work in the only library was ${ago}`;
  const half =
    medianDays === 0
      ? "Half of the libraries had work within the last day"
      : `Half of the libraries have had no work for ${plural(medianDays, "day")} or longer`;
  const rest =
    stale === 0 ? "none is" : `${formatCount(stale)} (${formatPercent(stale, all)}) ${stale === 1 ? "is" : "are"}`;
  const scope = unknown === 0 ? "" : " of known date";
  return `${half.replace("libraries", `libraries${scope}`)}; ${rest} stale: over 90 days`;
}
