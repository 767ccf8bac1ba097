import { utcDay } from "d3-time";
import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../../format.ts";
import { DAY_MS } from "../../units.ts";
import { columnChart, stepsOf } from "../charts/column-chart.ts";
import { html } from "../html/html.ts";
import { formatDay } from "../html/times.ts";
import { note, numbersTable, type Section } from "./section.ts";

/** The time in which the last work makes a library active, as in the function simcat_report.work_state. */
const ACTIVE_DAYS = 30;

/** The active libraries, by the day of their last work. */
export function activeSection({ now, libraries, active }: ReportRows): Section | null {
  if (libraries.libraries === 0) return null;
  const finding = findingOf(libraries);
  // The finding says all about a single library.
  if (libraries.active === 0 || libraries.libraries === 1) {
    return { id: "activity", finding, body: html`${note(unknownNote(libraries.unknown))}` };
  }
  const from = new Date(now.getTime() - ACTIVE_DAYS * DAY_MS);
  const counts = new Map(active.map(({ at, count }) => [at.getTime(), count]));
  const chart = columnChart({
    label: `${finding}. Libraries by the day of their last work.`,
    unit: "libraries",
    from,
    to: now,
    interval: utcDay,
    series: [{ name: "last work", tone: "first", counts }],
    describe: (day, count) => `${formatDay(day)}: ${plural(count, "library", "libraries")}`,
  });
  const rows = stepsOf(utcDay, from, now).map((day) => [formatDay(day), formatCount(counts.get(day.getTime()) ?? 0)]);
  return {
    id: "activity",
    finding,
    body: html`${chart}
${note(`Each library once, on the day (UTC) of its last work: the newest date of the library and its scenarios. Shaded: outside of the ${ACTIVE_DAYS} days. `, unknownNote(libraries.unknown))}
${numbersTable([{ title: "day of the last work (UTC)" }, { title: "libraries", isNumber: true }], rows)}`,
  };
}

const unknownNote = (unknown: number) =>
  unknown === 0 ? null : `${plural(unknown, "library has", "libraries have")} no date that simcat can use.`;

function findingOf({ libraries: all, active }: ReportRows["libraries"]): string {
  if (all === 1)
    return `The only library is ${active === 1 ? "" : "not "}active: ${active === 1 ? "" : "no "}work in the last ${ACTIVE_DAYS} days`;
  return `${formatCount(active)} of ${formatCount(all)} libraries ${active === 1 ? "is" : "are"} active: work in the last ${ACTIVE_DAYS} days`;
}
