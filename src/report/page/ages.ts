import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { html } from "../html/html.ts";
import { numbers, percent, remark, type Section } from "./section.ts";

/** In the order of the query's numbers. */
const CLASSES = [
  "ahead of now",
  "under 7 days",
  "7–29 days",
  "30–89 days",
  "90–179 days",
  "180–364 days",
  "1–2 years",
  "2–5 years",
  "over 5 years",
];
const RARE = new Set([0, 8]);

/** How long libraries have lain untouched. */
export function agesSection({ libraries, ages }: ReportRows, draw: Draw): Section | null {
  const { libraries: all, stale, medianDays } = libraries;
  if (all === 0) return null;
  const counts = new Map(ages.map(({ age, libraries: count }) => [age, count]));
  const classes = [...CLASSES.keys()].filter((at) => !RARE.has(at) || counts.has(at));
  const names = [...classes.map((at) => CLASSES[at] ?? ""), ...(counts.has(null) ? ["no date"] : [])];
  const values = [...classes, ...(counts.has(null) ? [null] : [])].map((at) => counts.get(at) ?? 0);
  const finding = findingOf(all, stale, medianDays);
  const chart = draw({
    label: `${finding}. Libraries by the time since they were last modified.`,
    kind: "bars",
    things: "last modified",
    names,
    unit: "libraries",
    formatValue: formatCount,
    series: [{ name: "libraries", tone: "first", values }],
    ends: values.map((value) => (value === 0 ? "0" : `${formatCount(value)} (${percent(value, all)})`)),
  });
  const rows = names.map((name, at) => [name, formatCount(values[at] ?? 0)]);
  return {
    id: "age",
    finding,
    body: html`${chart}
${remark("Time since the library's own last date, as the service tells it. A date without a time zone is read in the one that SIMCAT_SERVICE_TIMEZONE names.")}
${numbers([{ title: "last modified" }, { title: "libraries", isNumber: true }], rows)}`,
  };
}

function findingOf(all: number, stale: number, medianDays: number | null): string {
  if (medianDays === null) return "No library has a date that simcat understands";
  const days = medianDays < 0 ? "is dated ahead of now" : `was last modified ${plural(medianDays, "day")} ago`;
  if (all === 1) return `The one library ${days}`;
  const old = stale === 0 ? "none" : formatCount(stale);
  if (medianDays < 1) {
    return `Half of the libraries were modified within a day; ${old} ${stale < 2 ? "has" : "have"} lain untouched for a year or longer`;
  }
  return `Half of the libraries have lain untouched for ${plural(medianDays, "day")} or longer, ${old} for a year${stale === 0 ? "" : " or longer"}`;
}
