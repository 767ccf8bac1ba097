import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../../format.ts";
import type { DrawChart } from "../charts/chart-renderer.ts";
import { html } from "../html/html.ts";
import { formatPercent, note, numbersTable, type Section } from "./section.ts";

/** The age classes of the query, by their number. */
const AGE_CLASSES = [
  "in the future",
  "under 7 days",
  "7–29 days",
  "30–89 days",
  "90–179 days",
  "180–364 days",
  "1–2 years",
  "2–5 years",
  "over 5 years",
];
/** Classes that are left out if they are empty. */
const OPTIONAL_CLASSES = new Set([0, 8]);

/** The time since libraries were last modified. */
export function agesSection({ libraries, ages }: ReportRows, draw: DrawChart): Section | null {
  const { libraries: all, stale, medianDays } = libraries;
  if (all === 0) return null;
  const counts = new Map(ages.map(({ age, libraries: count }) => [age, count]));
  const classes = [...AGE_CLASSES.keys()].filter((age) => !OPTIONAL_CLASSES.has(age) || counts.has(age));
  const names = [...classes.map((age) => AGE_CLASSES[age] ?? ""), ...(counts.has(null) ? ["no date"] : [])];
  const values = [...classes, ...(counts.has(null) ? [null] : [])].map((age) => counts.get(age) ?? 0);
  const finding = findingOf(all, stale, medianDays);
  const chart = draw({
    label: `${finding}. Libraries by the time since they were last modified.`,
    kind: "bars",
    things: "last modified",
    names,
    unit: "libraries",
    formatValue: formatCount,
    series: [{ name: "libraries", tone: "first", values }],
    ends: values.map((value) => (value === 0 ? "0" : `${formatCount(value)} (${formatPercent(value, all)})`)),
  });
  const rows = names.map((name, index) => [name, formatCount(values[index] ?? 0)]);
  return {
    id: "age",
    finding,
    body: html`${chart}
${note("Time since the lastModified date of the library itself. A date without a time zone is parsed in that of SIMCAT_SERVICE_TIMEZONE.")}
${numbersTable([{ title: "last modified" }, { title: "libraries", isNumber: true }], rows)}`,
  };
}

function findingOf(all: number, stale: number, medianDays: number | null): string {
  if (medianDays === null) return "No library has a date that simcat can parse";
  const days = medianDays < 0 ? "has a date in the future" : `was last modified ${plural(medianDays, "day")} ago`;
  if (all === 1) return `The only library ${days}`;
  const old = formatCount(stale);
  if (medianDays < 1) {
    const rest =
      stale === 0 ? "all within a year" : `${old} ${stale === 1 ? "has" : "have"} not been modified for a year`;
    return `Half of the libraries were modified within the last day; ${rest}`;
  }
  const rest = stale === 0 ? "none for a year" : `${old} for a year or longer`;
  return `Half of the libraries have not been modified for ${plural(medianDays, "day")} or longer, ${rest}`;
}
