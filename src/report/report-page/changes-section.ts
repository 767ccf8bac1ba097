import { sum } from "d3-array";
import { type TimeInterval, utcDay, utcHour, utcMonday, utcMonth } from "d3-time";
import type { ReportRows } from "../../db/read/read-report.ts";
import type { ChangedLibrary, ChangeRow } from "../../db/read/report-changes.ts";
import type { Step } from "../../db/read/report-scope.ts";
import { formatCount, formatSpan, plural } from "../../format.ts";
import { columnChart, stepsOf } from "../charts/column-chart.ts";
import { type LegendItem, legend } from "../charts/svg.ts";
import { htmlTable, libraryName } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatDay, formatMinute, formatMonth, timeOf } from "../html/times.ts";
import { note, numbersTable, type Section } from "./section.ts";

interface ChangeSeries extends LegendItem {
  readonly kind: ChangeRow["kind"];
  readonly below?: boolean;
}

const SERIES: readonly ChangeSeries[] = [
  { kind: "added", name: "added or returned", tone: "first" },
  { kind: "changed", name: "changed", tone: "first", hollow: true },
  { kind: "removed", name: "removed (below the line)", tone: "second", below: true },
];

const STEPS: Readonly<Record<Step, { readonly interval: TimeInterval; readonly formatStep: (start: Date) => string }>> =
  {
    hour: { interval: utcHour, formatStep: formatMinute },
    day: { interval: utcDay, formatStep: formatDay },
    // Weeks start on Monday, as in the query.
    week: { interval: utcMonday, formatStep: (start) => `week of ${formatDay(start)}` },
    month: { interval: utcMonth, formatStep: formatMonth },
  };

/** The libraries and scenarios that runs found to be new, changed or removed. */
export function changesSection(rows: ReportRows): Section | null {
  const { now, changesSince, complete, changes, changed, step, runs } = rows;
  if (runs.length === 0) return null;
  const finding = findingOf(rows);
  const scope = scopeNote(rows);
  if (changes.length === 0 || complete.historyCompleteSince === null)
    return { id: "changes", finding, body: html`${note(scope)}` };
  // Two partial steps are no course of time; the finding has their numbers.
  const isDrawn = stepsOf(STEPS[step].interval, changesSince, now).length > 2;
  const pictures = html`${legend(SERIES)}
<div class="panels">${(["library", "scenario"] as const).map((entity) => panel(rows, entity))}</div>`;
  return {
    id: "changes",
    finding,
    isWide: true,
    body: html`${isDrawn ? pictures : null}
${note(isDrawn ? `By the ${step} (UTC) in which a run of simcat found the change. Shaded: not counted. ` : null, scope)}
${isDrawn ? stepTable(rows) : null}
${changedTable(changed)}`,
  };
}

const UNITS = { library: "libraries", scenario: "scenarios" } as const;

function panel({ changesSince, now, changes, step }: ReportRows, entity: ChangeRow["entity"]): Html {
  const { interval, formatStep } = STEPS[step];
  const series = SERIES.map(({ kind, ...rest }) => ({ ...rest, counts: countsOf(changes, entity, kind) }));
  const label = `Added, changed and removed ${UNITS[entity]} by ${step}: ${total(changes, entity).join(", ")}`;
  const describe = (start: Date, count: number) => `${formatStep(start)}: ${plural(count, entity, UNITS[entity])}`;
  return html`<figure>${columnChart({ label, unit: UNITS[entity], from: changesSince, to: now, interval, series, describe })}</figure>`;
}

const countsOf = (changes: readonly ChangeRow[], entity: string, kind: string) =>
  new Map(
    changes.filter((row) => row.entity === entity && row.kind === kind).map(({ at, count }) => [at.getTime(), count]),
  );

/** `3 added`, `1 removed`. Zeros are left out. */
const total = (changes: readonly ChangeRow[], entity: string): string[] =>
  SERIES.map(({ kind }) => ({ kind, count: sum(countsOf(changes, entity, kind).values()) }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${formatCount(count)} ${kind}`);

function findingOf({ now, since, changesSince, changes, changed, complete }: ReportRows): string {
  if (complete.historyCompleteSince === null) return "Changes are counted after the first run that sees everything";
  const isWhole = changesSince.getTime() === since.getTime();
  const time = isWhole
    ? `in the last ${formatSpan(now.getTime() - since.getTime())}`
    : `since ${formatMinute(changesSince)}`;
  if (changes.length === 0) return `Nothing changed ${time}`;
  const [first] = changed;
  const libraries = plural(first?.total ?? 0, "library", "libraries");
  const counts = total(changes, "scenario");
  return `${libraries} changed ${time}; ${counts.length === 0 ? "no scenarios" : `scenarios: ${counts.join(", ")}`}`;
}

/** Why an earlier part of the time has no changes: the initial load, or a prune. */
function scopeNote({ since, changesSince }: ReportRows): Part {
  if (changesSince.getTime() === since.getTime()) return null;
  return html`The history is complete since ${timeOf(changesSince)}; earlier changes, such as those of the initial load, are not counted.`;
}

function stepTable({ changesSince, now, changes, step }: ReportRows): Html {
  const { interval, formatStep } = STEPS[step];
  const columns = (["library", "scenario"] as const).flatMap((entity) => SERIES.map(({ kind }) => ({ entity, kind })));
  const counts = columns.map(({ entity, kind }) => countsOf(changes, entity, kind));
  const titles = columns.map(({ entity, kind }) => ({ title: `${UNITS[entity]} ${kind}`, isNumber: true }));
  const rows = stepsOf(interval, changesSince, now).map((start) => [
    formatStep(start),
    ...counts.map((byStep) => formatCount(byStep.get(start.getTime()) ?? 0)),
  ]);
  return numbersTable([{ title: `${step} (UTC)` }, ...titles], rows);
}

function changedTable(changed: readonly ChangedLibrary[]): Html | null {
  const [first] = changed;
  if (first === undefined) return null;
  const titles = [
    { title: "library" },
    { title: "itself" },
    ...SERIES.map(({ kind }) => ({ title: `scenarios ${kind}`, isNumber: true })),
    { title: "last change (UTC)" },
  ];
  const rows = changed.map((row) => [
    libraryName(row),
    row.library ?? "",
    ...SERIES.map(({ kind }) => (row[kind] === 0 ? "" : formatCount(row[kind]))),
    timeOf(row.lastChangedAt),
  ]);
  const left = first.total - changed.length;
  return html`${htmlTable(titles, rows)}${left > 0 ? note(`… and ${plural(left, "library", "libraries")} more; see the view simcat_report.activity.`) : null}`;
}
