import { formatCount, formatLibraries, plural } from "../../format.ts";
import { DAY_MS } from "../../units.ts";
import { columnChart, type TimeStep } from "../charts.ts";
import { formatDay, htmlTable } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { DAYS_SINCE_WORK, type Facts, knownEndOf, OF_OWNERS } from "./facts.ts";
import { barColumn, countColumn, formatPercent, note, numbersTable, type Section } from "./section.ts";

/** The time in which the last work makes a library active, as in the function simcat_report.work_state. */
const ACTIVE_DAYS = 30;

/** The active libraries, by the day of their last work. */
export const activeSection: Section<{ active: Omit<TimeStep, "isKnown"> }> = {
  id: "activity",
  queries: {
    active: `
SELECT at, at + interval '1 day' AS "end", json_build_object('libraries', coalesce(count, 0)) AS counts
FROM generate_series(date_trunc('day', now() - interval '${ACTIVE_DAYS} days'), now(), interval '1 day') AS at
LEFT JOIN (
  SELECT date_trunc('day', least(last_work_at, now())) AS at, count(*)
  FROM simcat_report.libraries WHERE ${OF_OWNERS} AND work_state = 'active' GROUP BY 1
) AS active USING (at)
ORDER BY at`,
  },
  finding(facts) {
    const { libraries: all, active } = facts.libraries;
    const time = `the last ${ACTIVE_DAYS} days${asFarAsKnown(facts)}`;
    if (all === 0) return whyEmpty(facts);
    // The section of ages says so.
    if (facts.libraries.medianDays === null) return null;
    if (all === 1)
      return `The only library is ${active === 1 ? "" : "not "}active: ${active === 1 ? "" : "no "}work in ${time}`;
    return `${formatCount(active)} of ${formatCount(all)} libraries ${active === 1 ? "is" : "are"} active: work in ${time}`;
  },
  figure({ active, ...facts }, finding) {
    const { now, libraries } = facts;
    const end = knownEndOf(facts);
    const { unknown } = libraries;
    const undated =
      unknown === 0 ? null : `${plural(unknown, "library has", "libraries have")} no date that simcat can use.`;
    // The finding says all about a single library.
    if (libraries.active === 0 || libraries.libraries === 1) return note(undated);
    const steps = active.map((day) => ({ ...day, isKnown: day.at <= end.at }));
    const chart = columnChart({
      label: `${finding}. Libraries by the day of their last work.`,
      unit: "libraries",
      from: new Date(now.getTime() - ACTIVE_DAYS * DAY_MS),
      to: now,
      steps,
      series: [{ key: "libraries", name: "last work", paint: "solid first" }],
      describe: (day, count) => `${formatDay(day)}: ${formatLibraries(count)}`,
    });
    return html`${chart}
${note(`Each library once, on the day (UTC) of its last work: the newest date of the library and its scenarios. Pale: today so far. `, steps.every(({ isKnown }) => isKnown) ? null : "Shaded: unknown, because no run saw everything. ", undated)}
${numbersTable(steps, [["day of the last work (UTC)", ({ at }) => formatDay(at)], countColumn("libraries", "libraries")])}`;
  },
};

/** `, as far as known until 20 Nov 2026`; nothing if the copy is of today. */
function asFarAsKnown(facts: Facts): string {
  const { until } = knownEndOf(facts);
  return until && `, as far as known ${until}`;
}

function whyEmpty({ owners, complete, runs, failing: [failed] }: Facts): string {
  if (failed !== undefined)
    return `No library is stored: ${plural(failed.total, "listed library fails", "listed libraries fail")}`;
  if (runs.length === 0) return "Nothing has been read yet";
  if (owners.length > 0) return `No library of ${owners.length === 1 ? "this owner" : "these owners"} is stored`;
  return complete.completeAsOf === null ? "No library is stored yet" : "The organization has no libraries";
}

/** By their number in the query. */
const AGES = [
  { state: "active", lastWork: "within 30 days" },
  { state: "quiet", lastWork: "30 to 90 days ago" },
  { state: "stale", lastWork: "90 days to 1 year ago" },
  { state: "stale", lastWork: "1 to 2 years ago" },
  { state: "stale", lastWork: "over 2 years ago" },
  { state: "unknown", lastWork: "no date, or one in the future" },
];

/** The libraries by the time since their last work. */
export const agesSection: Section<{ ages: { age: number; libraries: number } }> = {
  id: "age",
  queries: {
    ages: `
SELECT CASE work_state WHEN 'active' THEN 0 WHEN 'quiet' THEN 1 WHEN 'unknown' THEN 5
    ELSE 2 + width_bucket(${DAYS_SINCE_WORK}, ARRAY[365, 730]) END AS age, count(*) AS libraries
FROM simcat_report.libraries WHERE ${OF_OWNERS} GROUP BY 1`,
  },
  finding(facts) {
    const { libraries: all, medianDays, stale, unknown } = facts.libraries;
    if (all === 0) return null;
    if (medianDays === null) return "No library has a date that simcat can use";
    const days = plural(medianDays, "day");
    if (all === 1)
      return `The last work in the only library was ${medianDays === 0 ? "within the last day" : `${days} ago`}${asFarAsKnown(facts)}`;
    const half = `Half of the libraries${unknown === 0 ? "" : " of known date"}`;
    const work = medianDays === 0 ? "had work within the last day" : `have had no work for ${days} or longer`;
    const rest =
      stale === 0 ? "none is" : `${formatCount(stale)} (${formatPercent(stale, all)}) ${stale === 1 ? "is" : "are"}`;
    return `${half} ${work}; ${rest} stale: over 90 days${asFarAsKnown(facts)}`;
  },
  figure({ libraries: { libraries: all, medianDays }, ages }) {
    // The finding says all about a single library, and if no date is known.
    if (all === 1 || medianDays === null) return null;
    const counts = new Map(ages.map(({ age, libraries }) => [age, libraries]));
    const rows = AGES.map((row, age) => ({ ...row, libraries: counts.get(age) ?? 0 })).filter(
      ({ state, libraries }) => state !== "unknown" || libraries > 0,
    );
    const shareOf = ({ libraries }: (typeof rows)[number]) =>
      html`${formatCount(libraries)} <small>${formatPercent(libraries, all)}</small>`;
    return html`${htmlTable(rows, [
      ["last work", ({ state, lastWork }) => html`${lastWork} <small>${state}</small>`],
      barColumn(rows, ({ state, libraries: value }) => (state === "unknown" ? [] : [{ paint: "solid first", value }])),
      ["libraries", shareOf, "number"],
    ])}
${note("Last work is the newest date of a library and its scenarios.")}`;
  },
};
