import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../../format.ts";
import type { DrawChart } from "../charts/chart-renderer.ts";
import { html } from "../html/html.ts";
import { note, numbersTable, type Section } from "./section.ts";

const SHOWN_MONTHS = 24;

/** The number of libraries with a modification, per month. */
export function activitySection({ now, libraries, activity }: ReportRows, draw: DrawChart): Section {
  const { libraries: all, touched, undated } = libraries;
  const finding = findingOf(all, touched);
  const byMonth = new Map(activity.map((row) => [row.month, row]));
  const months = monthsUntil(now);
  const counts = months.map((month) => byMonth.get(month)?.libraries ?? 0);
  const chart = draw({
    label: `${finding}. Modified libraries by month, ${months[0]} to ${months.at(-1)}.`,
    kind: "columns",
    things: "month of a last modification (UTC)",
    names: months,
    unit: "libraries",
    formatValue: formatCount,
    series: [{ name: "modified", tone: "first", values: counts }],
  });
  const rows = months.map((month, index) => [
    month,
    formatCount(counts[index] ?? 0),
    formatCount(byMonth.get(month)?.scenarios ?? 0),
  ]);
  const titles = [{ title: "month" }, { title: "libraries", isNumber: true }, { title: "scenarios", isNumber: true }];
  const body = html`${activity.length === 0 ? note("No modification is dated within the last two years.") : chart}
${note(
  "A library counts in each month that has its own last modification or that of one of its scenarios. Earlier modifications are not known. ",
  undated === 0 ? null : `${plural(undated, "library has", "libraries have")} no date that simcat can parse.`,
)}
${activity.length === 0 ? null : numbersTable(titles, rows)}`;
  return { id: "activity", finding, body: all === 0 ? html`` : body };
}

function findingOf(all: number, touched: number): string {
  if (all === 0) return "No libraries yet";
  if (all === 1) return `The only library was ${touched === 1 ? "" : "not "}modified in the last 30 days`;
  return `${formatCount(touched)} of ${formatCount(all)} libraries ${touched === 1 ? "was" : "were"} modified in the last 30 days`;
}

function monthsUntil(now: Date): string[] {
  const first = now.getUTCFullYear() * 12 + now.getUTCMonth() - (SHOWN_MONTHS - 1);
  return Array.from({ length: SHOWN_MONTHS }, (_, index) => {
    const month = first + index;
    return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
  });
}
