import type { ReportRows } from "../../db/read/read-report.ts";
import type { ChangedLibrary, ChangeRow } from "../../db/read/report-changes.ts";
import type { Step } from "../../db/read/report-scope.ts";
import { formatCount, plural } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { htmlTable } from "../html/table.ts";
import { libraryName } from "../html/text.ts";
import { ago } from "../html/when.ts";
import { inWords, remark, type Section } from "./section.ts";

/** What the runs found new, changed and gone. */
export function changesSection(rows: ReportRows, draw: Draw): Section | null {
  const { now, since, changes, changed, step, runs } = rows;
  if (runs.length === 0) return null;
  const span = inWords(now.getTime() - since.getTime());
  const finding = findingOf(rows, span);
  if (changes.length === 0) return { id: "changes", finding, body: html`${firstFill(rows)}` };
  const times = timesOf(since, now, step);
  const at = (kinds: readonly ChangeRow["kind"][], sign: 1 | -1) =>
    times.map((time) => sign * countOf(changes.filter((row) => kinds.includes(row.kind) && row.at.getTime() === time)));
  const chart = draw({
    label: `${finding}. Versions of libraries and scenarios that the runs found, by ${step}.`,
    kind: "columns",
    things: `${step} in which simcat saw it (UTC)`,
    names: times.map((time) => nameOf(time, step)),
    unit: "libraries and scenarios",
    formatValue: formatCount,
    series: [
      { name: "added or back", tone: "first", values: at(["added", "returned"], 1) },
      { name: "changed", tone: "first", hollow: true, values: at(["changed"], 1) },
      { name: "removed, below the line", tone: "second", values: at(["removed"], -1) },
    ],
  });
  return { id: "changes", finding, body: html`${chart}\n${firstFill(rows)}\n${changedTable(changed, now)}` };
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
  const words = told(scenarios);
  const tail = words.length === 0 ? "no scenario did" : `scenarios: ${words.join(", ")}`;
  return `${libraries} changed in the last ${span}; ${tail}`;
}

function firstFill({ firstFill: { libraries, scenarios, runId } }: ReportRows): Html | null {
  if (libraries + scenarios === 0) return null;
  const what = `${plural(libraries, "library", "libraries")} and ${plural(scenarios, "scenario")}`;
  return remark(
    `Not counted: ${what} that the first filling brought${runId === null ? "" : ` (up to run ${runId})`}; they were there before.`,
  );
}

function changedTable(changed: ReportRows["changed"], now: Date): Html | null {
  const [first] = changed;
  if (first === undefined) return null;
  const titles = [{ title: "library" }, { title: "itself" }, { title: "scenarios" }, { title: "last seen" }];
  const rows = changed.map((row) => [
    libraryName(row),
    row.library === null ? "" : html`<span class="nowrap">${row.library}</span>`,
    scenarioCounts(row),
    ago(row.lastChangedAt, now),
  ]);
  const left = first.total - changed.length;
  return html`${htmlTable(titles, rows)}${left > 0 ? remark(`… and ${plural(left, "library", "libraries")} more; see the view simcat_report.changes.`) : null}`;
}

function scenarioCounts({ added, changed, removed }: ChangedLibrary): Part {
  const counts = told([
    [added, "added"],
    [changed, "changed"],
    [removed, "removed"],
  ]);
  if (counts.length === 0) return "";
  return counts.map((count, at) => html`${at === 0 ? "" : ", "}<span class="nowrap">${count}</span>`);
}

/** `3 added`, `1 removed`; what is nothing is left out. */
const told = (counts: readonly (readonly [count: number, word: string])[]) =>
  counts.filter(([count]) => count > 0).map(([count, word]) => `${formatCount(count)} ${word}`);

const countOf = (rows: readonly ChangeRow[]) => rows.reduce((total, row) => total + row.count, 0);

/** The beginnings of all steps between the two, as the query's date_trunc has them. */
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
  // A week begins on Monday.
  if (step === "week") return new Date(Date.UTC(year, month, day - ((moment.getUTCDay() + 6) % 7)));
  return new Date(Date.UTC(year, month));
}

function next(time: Date, step: Step): Date {
  if (step === "month") return new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1));
  const hours = { hour: 1, day: 24, week: 168 }[step];
  return new Date(time.getTime() + hours * 3_600_000);
}

function nameOf(time: number, step: Step): string {
  const text = new Date(time).toISOString();
  if (step === "hour") return text.slice(5, 16).replace("T", " ");
  if (step === "day") return text.slice(5, 10);
  return text.slice(0, step === "week" ? 10 : 7);
}
