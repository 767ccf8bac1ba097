import type { ReportRows } from "../../db/read/read-report.ts";
import type { ChangedLibrary, ChangeRow } from "../../db/read/report-changes.ts";
import type { Step } from "../../db/read/report-scope.ts";
import { formatCount, formatSpan, plural } from "../../format.ts";
import { DAY_MS, HOUR_MS } from "../../units.ts";
import type { DrawChart } from "../charts/chart-renderer.ts";
import { htmlTable, libraryName, timeAgo } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { note, type Section } from "./section.ts";

/** The libraries and scenarios that runs found to be new, changed or removed. */
export function changesSection(rows: ReportRows, draw: DrawChart): Section | null {
  const { now, since, changes, changed, step, runs } = rows;
  if (runs.length === 0) return null;
  const span = formatSpan(now.getTime() - since.getTime());
  const finding = findingOf(rows, span);
  if (changes.length === 0) return { id: "changes", finding, body: html`${initialLoadNote(rows)}` };
  const times = timesOf(since, now, step);
  const valuesOf = (kinds: readonly ChangeRow["kind"][], sign: 1 | -1) =>
    times.map((time) => sign * countOf(changes.filter((row) => kinds.includes(row.kind) && row.at.getTime() === time)));
  const chart = draw({
    label: `${finding}. Changed libraries and scenarios by ${step}.`,
    kind: "columns",
    things: `${step} in which simcat found the change (UTC)`,
    names: times.map((time) => formatStep(time, step)),
    unit: "libraries and scenarios",
    formatValue: formatCount,
    series: [
      { name: "added or restored", tone: "first", values: valuesOf(["added", "returned"], 1) },
      { name: "changed", tone: "first", hollow: true, values: valuesOf(["changed"], 1) },
      { name: "removed, below the line", tone: "second", values: valuesOf(["removed"], -1) },
    ],
  });
  return { id: "changes", finding, body: html`${chart}\n${initialLoadNote(rows)}\n${changedTable(changed, now)}` };
}

function findingOf({ changes, changed }: ReportRows, span: string): string {
  if (changes.length === 0) return `Nothing changed in the last ${span}`;
  const [first] = changed;
  const count = (kinds: readonly string[], what: string) =>
    countOf(changes.filter((row) => row.what === what && kinds.includes(row.kind)));
  const scenarios = [
    [count(["added", "returned"], "scenario"), "added"],
    [count(["changed"], "scenario"), "changed"],
    [count(["removed"], "scenario"), "removed"],
  ] as const;
  const libraries = plural(first?.total ?? 0, "library", "libraries");
  const counts = formatCounts(scenarios);
  const tail = counts.length === 0 ? "no scenarios" : `scenarios: ${counts.join(", ")}`;
  return `${libraries} changed in the last ${span}; ${tail}`;
}

function initialLoadNote({ firstFill: { libraries, scenarios, runId } }: ReportRows): Html | null {
  if (libraries + scenarios === 0) return null;
  const what = `${plural(libraries, "library", "libraries")} and ${plural(scenarios, "scenario")}`;
  return note(`Not counted: ${what} of the initial load${runId === null ? "" : ` (up to run ${runId})`}.`);
}

function changedTable(changed: ReportRows["changed"], now: Date): Html | null {
  const [first] = changed;
  if (first === undefined) return null;
  const titles = [{ title: "library" }, { title: "change" }, { title: "scenarios" }, { title: "last change" }];
  const rows = changed.map((row) => [
    libraryName(row),
    row.library === null ? "" : html`<span class="nowrap">${row.library}</span>`,
    scenarioCounts(row),
    timeAgo(row.lastChangedAt, now),
  ]);
  const left = first.total - changed.length;
  return html`${htmlTable(titles, rows)}${left > 0 ? note(`… and ${plural(left, "library", "libraries")} more; see the view simcat_report.changes.`) : null}`;
}

function scenarioCounts({ added, changed, removed }: ChangedLibrary): Part {
  const counts = formatCounts([
    [added, "added"],
    [changed, "changed"],
    [removed, "removed"],
  ]);
  if (counts.length === 0) return "";
  return counts.map((count, index) => html`${index === 0 ? "" : ", "}<span class="nowrap">${count}</span>`);
}

/** `3 added`, `1 removed`. Zeros are left out. */
const formatCounts = (counts: readonly (readonly [count: number, word: string])[]) =>
  counts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);

const countOf = (rows: readonly ChangeRow[]) => rows.reduce((total, row) => total + row.count, 0);

/** The starts of all steps from `since` to `now`, as `date_trunc` returns them in the query. */
function timesOf(since: Date, now: Date, step: Step): number[] {
  const times: number[] = [];
  for (let time = truncateTo(since, step); time.getTime() <= now.getTime(); time = next(time, step)) {
    times.push(time.getTime());
  }
  return times;
}

function truncateTo(moment: Date, step: Step): Date {
  const [year, month, day] = [moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate()];
  if (step === "hour") return new Date(Date.UTC(year, month, day, moment.getUTCHours()));
  if (step === "day") return new Date(Date.UTC(year, month, day));
  // Weeks start on Monday.
  if (step === "week") return new Date(Date.UTC(year, month, day - ((moment.getUTCDay() + 6) % 7)));
  return new Date(Date.UTC(year, month));
}

function next(time: Date, step: Step): Date {
  if (step === "month") return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1));
  const lengths = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS };
  return new Date(time.getTime() + lengths[step]);
}

function formatStep(time: number, step: Step): string {
  const text = new Date(time).toISOString();
  if (step === "hour") return text.slice(5, 16).replace("T", " ");
  if (step === "day") return text.slice(5, 10);
  return text.slice(0, step === "week" ? 10 : 7);
}
