import { scaleLinear, scaleUtc } from "d3-scale";
import { type TimeInterval, utcDay, utcMonday, utcMonth } from "d3-time";
import type { ReportRows } from "../../db/read/read-report.ts";
import type { GrowthRow } from "../../db/read/report-inventory.ts";
import { byteUnitFor, formatBytes, formatCount, plural } from "../../format.ts";
import { type Axis, lineChart } from "../charts/line-chart.ts";
import { formatTick } from "../charts/svg.ts";
import { timeTicks } from "../charts/time-axis.ts";
import { type Html, html } from "../html/html.ts";
import { formatDay } from "../html/times.ts";
import { note, numbersTable, type Section } from "./section.ts";

interface Quantity {
  readonly title: string;
  readonly amountOf: (row: GrowthRow) => number;
  readonly format: (value: number) => string;
}

const QUANTITIES: readonly Quantity[] = [
  { title: "libraries", amountOf: (row) => row.libraries, format: formatCount },
  { title: "stored", amountOf: (row) => row.bytes, format: formatBytes },
  { title: "parents", amountOf: (row) => row.parents, format: formatCount },
  { title: "results", amountOf: (row) => row.results, format: formatCount },
];

const MAX_ROWS = 31;

/** The daily snapshots. Two days make a line; one is printed as numbers. */
export function growthSection({ growth, libraries }: ReportRows): Section | null {
  const [first] = growth;
  const last = growth.at(-1);
  if (first === undefined || last === undefined) {
    const finding = "Growth is recorded from the next good run on";
    return libraries.libraries === 0 ? null : { id: "growth", finding, isWide: true, body: html`` };
  }
  const finding = findingOf(first, last);
  if (first === last) {
    const { libraries, parents, results, bytes } = last;
    const text = `${plural(libraries, "library", "libraries")}, ${plural(parents, "parent")}, ${plural(results, "result")}, ${formatBytes(bytes)}`;
    return {
      id: "growth",
      finding,
      isWide: true,
      body: html`${note(`The first snapshot: ${text}. The first good run of each day adds one.`)}`,
    };
  }
  const { step, rows: listed } = listedRows(growth);
  const rows = listed.map((row) => [
    formatDay(row.day),
    ...QUANTITIES.map(({ amountOf, format }) => format(amountOf(row))),
  ]);
  const remark = step === "day" ? null : note(`The first snapshot, and the last one of each ${step}.`);
  return {
    id: "growth",
    finding,
    isWide: true,
    body: html`<div class="panels">${QUANTITIES.map((quantity) => panel(quantity, growth, last))}</div>
${note("One snapshot per day (UTC), by the first good run. Libraries of unknown size are not in the storage.")}
${numbersTable([{ title: "day (UTC)" }, ...QUANTITIES.map(({ title }) => ({ title, isNumber: true }))], rows, remark)}`,
  };
}

/** Few enough rows to read or to listen to, for readers who do not see the picture: days, else weeks, else months. */
function listedRows(growth: readonly GrowthRow[]): { readonly step: string; readonly rows: readonly GrowthRow[] } {
  const steps = [
    { step: "day", interval: utcDay },
    { step: "week", interval: utcMonday },
    { step: "month", interval: utcMonth },
  ];
  const candidates = steps.map(({ step, interval }) => ({ step, rows: lastOfEach(interval, growth) }));
  return (
    candidates.find(({ rows }) => rows.length <= MAX_ROWS) ?? { step: "month", rows: lastOfEach(utcMonth, growth) }
  );
}

/** The first row, and the last one of each step. */
const lastOfEach = (interval: TimeInterval, growth: readonly GrowthRow[]) =>
  growth.filter((row, index) => {
    const next = growth[index + 1];
    return index === 0 || next === undefined || interval.floor(next.day) > interval.floor(row.day);
  });

function panel({ title, amountOf, format }: Quantity, growth: readonly GrowthRow[], last: GrowthRow): Html {
  const points = growth.map((row) => ({ x: row.day.getTime(), y: amountOf(row) }));
  const [from = { x: 0 }] = points;
  const largest = Math.max(...points.map(({ y }) => y));
  const isBytes = format === formatBytes;
  const { unit, size } = isBytes ? byteUnitFor(largest) : { unit: title, size: 1 };
  const chart = lineChart({
    label: `${title} by day, from ${formatDay(new Date(from.x))}: now ${format(amountOf(last))}`,
    unit: isBytes ? `${title}, ${unit}` : unit,
    points,
    xAxis: dayAxis(from.x, last.day.getTime()),
    yAxis: amountAxis(largest, size),
    marks: [{ x: last.day.getTime(), y: amountOf(last), text: format(amountOf(last)) }],
  });
  return html`<figure>${chart}</figure>`;
}

const dayAxis =
  (first: number, last: number): Axis =>
  (from, to) => {
    const scale = scaleUtc([new Date(first), new Date(last)], [from, to]);
    return { position: (time) => scale(new Date(time)), ticks: timeTicks(scale) };
  };

/** A share of the height above the largest amount, for the label of the last one. */
const HEADROOM = 1.1;

/** From 0. `size`: the amount that a label counts as one. */
const amountAxis =
  (largest: number, size: number): Axis =>
  (from, to) => {
    const scale = scaleLinear([0, Math.max((HEADROOM * largest) / size, 1)], [from, to]).nice(4);
    return {
      position: (amount) => scale(amount / size),
      ticks: scale.ticks(4).map((amount) => ({ at: scale(amount), text: formatTick(amount) })),
    };
  };

function findingOf(first: GrowthRow, last: GrowthRow): string {
  const since = formatDay(first.day);
  if (first === last) return `Growth is recorded since ${since}`;
  const libraries = last.libraries - first.libraries;
  const scenarios = last.parents + last.results - first.parents - first.results;
  if (libraries === 0 && scenarios === 0) return `As many libraries and scenarios as on ${since}`;
  return `${difference(libraries, "library", "libraries")} and ${difference(scenarios, "scenario", "scenarios")} since ${since}`;
}

/** `12 more libraries`, `1 fewer scenario`. */
function difference(by: number, one: string, many: string): string {
  const word = by < 0 ? "fewer" : "more";
  return by === 0 ? `no more ${many}` : plural(Math.abs(by), `${word} ${one}`, `${word} ${many}`);
}
