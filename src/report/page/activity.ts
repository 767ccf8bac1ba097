import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { html } from "../html/html.ts";
import { numbers, remark, type Section } from "./section.ts";

const MONTHS = 24;

/** In how many libraries somebody worked, month by month. */
export function activitySection({ now, libraries, activity }: ReportRows, draw: Draw): Section {
  const { libraries: all, touched, undated } = libraries;
  const finding = findingOf(all, touched);
  const byMonth = new Map(activity.map((row) => [row.month, row]));
  const months = monthsUntil(now);
  const counts = months.map((month) => byMonth.get(month)?.libraries ?? 0);
  const chart = draw({
    label: `${finding}. Libraries worked in, by month, ${months[0]} to ${months.at(-1)}.`,
    kind: "columns",
    things: "month of a last modification (UTC)",
    names: months,
    unit: "libraries",
    formatValue: formatCount,
    series: [{ name: "worked in", tone: "first", values: counts }],
  });
  const rows = months.map((month, at) => [
    month,
    formatCount(counts[at] ?? 0),
    formatCount(byMonth.get(month)?.scenarios ?? 0),
  ]);
  const titles = [{ title: "month" }, { title: "libraries", isNumber: true }, { title: "scenarios", isNumber: true }];
  const body = html`${activity.length === 0 ? remark("Nothing is dated within these two years.") : chart}
${remark(
  "A library counts in every month that is the last date of itself or of one of its scenarios, so work that was dated over is not seen. ",
  undated === 0 ? null : `${plural(undated, "library has", "libraries have")} no date that simcat understands.`,
)}
${activity.length === 0 ? null : numbers(titles, rows)}`;
  return { id: "activity", finding, body: all === 0 ? html`` : body };
}

function findingOf(all: number, touched: number): string {
  if (all === 0) return "No libraries yet";
  if (all === 1) return `The one library was ${touched === 1 ? "" : "not "}touched in the last 30 days`;
  return `${formatCount(touched)} of ${formatCount(all)} libraries ${touched === 1 ? "was" : "were"} touched in the last 30 days`;
}

function monthsUntil(now: Date): string[] {
  const first = now.getUTCFullYear() * 12 + now.getUTCMonth() - (MONTHS - 1);
  return Array.from({ length: MONTHS }, (_, at) => {
    const month = first + at;
    return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
  });
}
