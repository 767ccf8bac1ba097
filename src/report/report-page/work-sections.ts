import { cumsum } from "d3-array";
import { scaleLinear, scaleSqrt } from "d3-scale";
import { formatCount, formatLibraries, plural } from "../../format.ts";
import { DAY_MS } from "../../units.ts";
import { columnChart, lineChart, type TimeStep } from "../charts.ts";
import { column, formatDay, numbers } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { DAYS_SINCE_WORK, type Facts, OF_OWNERS, oldEndOf } from "./facts.ts";
import { countColumn, formatPercent, note, numbersTable, type Section } from "./section.ts";

/** The time in which the last work makes a library active, as in the function simcat_report.work_state. */
const ACTIVE_DAYS = 30;

/** The active libraries, by the day of their last work. */
export const activeSection: Section<{ active: Omit<TimeStep, "isKnown"> & { count: number } }> = {
  id: "activity",
  queries: {
    active: `
SELECT at, at + interval '1 day' AS "end", coalesce(count, 0) AS count
FROM generate_series(date_trunc('day', now() - interval '${ACTIVE_DAYS} days'), now(), interval '1 day') AS at
LEFT JOIN (
  SELECT date_trunc('day', least(last_work_at, now())) AS at, count(*)
  FROM simcat_report.libraries WHERE ${OF_OWNERS} AND work_state = 'active' GROUP BY 1
) AS active USING (at)
ORDER BY at`,
  },
  finding(facts) {
    const { libraries: all, active } = facts.libraries;
    const time = `the last ${ACTIVE_DAYS} days${formatOldEnd(facts)}`;
    if (all === 0) return whyEmpty(facts);
    if (all === 1)
      return `The only library is ${active === 1 ? "" : "not "}active: ${active === 1 ? "" : "no "}work in ${time}`;
    return `${formatCount(active)} of ${formatCount(all)} libraries ${active === 1 ? "is" : "are"} active: work in ${time}`;
  },
  figure({ active, ...facts }, finding) {
    const { now, libraries } = facts;
    const end = oldEndOf(facts);
    const { unknown } = libraries;
    const undated =
      unknown === 0 ? null : `${plural(unknown, "library has", "libraries have")} no date that simcat can use.`;
    // The finding says all about a single library.
    if (libraries.active === 0 || libraries.libraries === 1) return note(undated);
    const steps = active.map((day) => ({ ...day, isKnown: end === null || day.at <= end }));
    const countOf = ({ count }: (typeof steps)[number]) => count;
    const chart = columnChart({
      label: `${finding}. Libraries by the day of their last work.`,
      unit: "libraries",
      from: new Date(now.getTime() - ACTIVE_DAYS * DAY_MS),
      to: now,
      steps,
      series: [{ name: "last work", paint: "solid first", countOf }],
      describe: (day, count) => `${formatDay(day)}: ${formatLibraries(count)}`,
    });
    return html`${chart}
${note(`Each library once, on the day (UTC) of its last work: the newest date of the library and its scenarios. Pale: today so far. `, end === null ? null : "Shaded: unknown, because no run saw everything. ", undated)}
${numbersTable(steps, [column("day of the last work (UTC)", ({ at }) => formatDay(at)), countColumn("libraries", countOf)])}`;
  },
};

/** `, as far as known until 20 Nov 2026`; nothing if the copy is of today. */
function formatOldEnd(facts: Facts): string {
  const end = oldEndOf(facts);
  return end === null ? "" : `, as far as known until ${formatDay(end)}`;
}

/** Why there are no libraries. */
function whyEmpty({ owners, complete, runs, failing: [failed] }: Facts): string {
  if (failed !== undefined)
    return `No library is stored: ${plural(failed.total, "listed library fails", "listed libraries fail")}`;
  if (runs.length === 0) return "Nothing has been read yet";
  if (owners.length > 0) return `No library of ${owners.length === 1 ? "this owner" : "these owners"} is stored`;
  return complete.completeAsOf === null ? "No library is stored yet" : "The organization has no libraries";
}

const TICKS: readonly (readonly [days: number, text: string])[] = [
  [0, "0"],
  [30, "30 d"],
  [90, "90 d"],
  [182, "½ y"],
  [365, "1 y"],
  [730, "2 y"],
  [1_826, "5 y"],
  [3_652, "10 y"],
];
const MARKED_DAYS = [30, 90, 365];
const SHARE_TICKS = [0, 0.25, 0.5, 0.75, 1];

/** The share of libraries whose last work is at most a given time ago. */
export const agesSection: Section<{ ages: { days: number; libraries: number } }> = {
  id: "age",
  queries: {
    /** By whole days since the last work. */
    ages: `
SELECT ${DAYS_SINCE_WORK} AS days, count(*) AS libraries
FROM simcat_report.libraries WHERE ${OF_OWNERS} AND work_state <> 'unknown' GROUP BY 1 ORDER BY 1`,
  },
  finding(facts) {
    const { libraries: all, medianDays, stale, unknown } = facts.libraries;
    if (all === 0) return null;
    if (medianDays === null) return "No library has a date that simcat can use";
    const days = plural(medianDays, "day");
    if (all === 1)
      return `The last work in the only library was ${medianDays === 0 ? "within the last day" : `${days} ago`}${formatOldEnd(facts)}`;
    const half = `Half of the libraries${unknown === 0 ? "" : " of known date"}`;
    const work = medianDays === 0 ? "had work within the last day" : `have had no work for ${days} or longer`;
    const rest =
      stale === 0 ? "none is" : `${formatCount(stale)} (${formatPercent(stale, all)}) ${stale === 1 ? "is" : "are"}`;
    return `${half} ${work}; ${rest} stale: over 90 days${formatOldEnd(facts)}`;
  },
  figure({ libraries, ages }, finding) {
    const { libraries: all, unknown } = libraries;
    const oldest = ages.at(-1)?.days;
    // The finding says all about a single library.
    if (oldest === undefined || all === 1) return null;
    const dated = all - unknown;
    const counts = [...cumsum(ages, (row) => row.libraries)];
    // A library of 3 whole days is less than 4 days old.
    const points = ages.map(({ days }, index) => ({ x: days + 1, y: (counts[index] ?? 0) / dated }));
    const end = Math.max(90, 1.05 * (oldest + 1));
    const marks = MARKED_DAYS.filter((days) => days < end).map((days) => {
      const share = points.findLast(({ x }) => x <= days)?.y ?? 0;
      return { x: days, y: share, text: formatPercent(Math.round(share * dated), dated) };
    });
    const ticks = TICKS.filter(([days]) => days <= end).map(([value, text]) => ({ value, text }));
    const chart = lineChart({
      label: `${finding}. Share of libraries by the time since their last work.`,
      unit: "% of libraries with work within this time",
      points: [{ x: 0, y: 0 }, ...points, { x: end, y: 1 }],
      isStepped: true,
      x: { scale: scaleSqrt().domain([0, end]), ticks },
      y: { scale: scaleLinear(), ticks: SHARE_TICKS.map((value) => ({ value, text: `${100 * value}` })) },
      marks,
    });
    const states = [
      { state: "active", meaning: "within 30 days", count: libraries.active },
      { state: "quiet", meaning: "within 90 days", count: libraries.quiet },
      { state: "stale", meaning: "over 90 days ago", count: libraries.stale },
      { state: "unknown", meaning: "no date, or one in the future", count: unknown },
    ];
    return html`${chart}
${note(
  "Last work is the newest date of a library and its scenarios. The time axis is a square root, so that recent days have room. ",
  unknown === 0 ? null : `Without ${formatLibraries(unknown)} of unknown date.`,
)}
${numbersTable(states, [
  column("state", ({ state }) => state),
  column("last work", ({ meaning }) => meaning),
  numbers("libraries", ({ count }) => count),
  numbers("share", ({ count }) => formatPercent(count, all)),
])}`;
  },
};
