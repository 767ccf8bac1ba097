import {
  type ExportColumn,
  quoteIdentifier,
  type TimeNotation,
  toExportColumns,
  toSelectItem,
} from "../db/read/export-columns.ts";
import type { ReportView } from "../db/read/report-views.ts";
import type { BoundStatement } from "../db/statement.ts";
import { editDistance } from "../edit-distance.ts";
import { ConfigurationError, UsageError } from "../errors.ts";

/** Which rows of a view are exported. Times are as the database resolved them. */
interface ExportFilters {
  readonly asOf: string | null;
  readonly since: string | null;
  /** All if there is none. */
  readonly owners: readonly string[];
}

interface PlannedView {
  readonly view: ReportView;
  readonly columns: readonly ExportColumn[];
}

const DEFAULT_VIEWS = ["libraries", "scenarios", "activity"];

/** The time by which `--since` filters a view's rows: when simcat stored or saw what the row describes. */
const TIME_COLUMNS: Readonly<Record<string, string>> = {
  activity: "seen_at",
  changes: "changed_at",
  daily_libraries: "day",
  daily_owners: "day",
  libraries: "changed_at",
  library_versions: "valid_from",
  prune_history: "pruned_at",
  removed: "removed_at",
  run_history: "started_at",
  scenario_versions: "valid_from",
  scenarios: "changed_at",
};

/**
 * Chooses the views, and checks that each takes the filters.
 * @throws UsageError for an unknown view or a filter that a view does not take, ConfigurationError if a default view is missing
 */
export function planExport(
  all: readonly ReportView[],
  requested: readonly string[],
  filters: { readonly [name in keyof ExportFilters]: unknown } & { readonly owners: readonly string[] },
): PlannedView[] {
  const isPast = filters.asOf !== null;
  const names = requested.length > 0 ? [...new Set(requested)] : defaultViews(all, isPast);
  const views = names.map((name) => findView(all, name));
  if (isPast)
    assertEach(views, all, "--as-of", "no function that answers for an earlier moment", ({ hasAsOf }) => hasAsOf);
  if (filters.since !== null) assertEach(views, all, "--since", "no time to filter by", hasTime);
  if (filters.owners.length > 0) assertEach(views, all, "--owner", "no column owner", hasOwner);
  return views.map((view) => ({ view, columns: toExportColumns(view.columns) }));
}

/** For an earlier moment only those of them that can answer. */
function defaultViews(all: readonly ReportView[], isPast: boolean): string[] {
  return DEFAULT_VIEWS.filter((name) => !isPast || (all.find((view) => view.name === name)?.hasAsOf ?? false));
}

function findView(all: readonly ReportView[], name: string): ReportView {
  const view = all.find((one) => one.name === name);
  if (view !== undefined) return view;
  if (DEFAULT_VIEWS.includes(name)) {
    throw new ConfigurationError(`the database has no view simcat_report.${name}; run: simcat migrate`);
  }
  const near = all.filter((one) => editDistance(one.name, name, 3) <= 3).map((one) => one.name);
  const meant = near.length === 0 ? "" : ` (did you mean ${near.join(" or ")}?)`;
  throw new UsageError(`there is no view ${JSON.stringify(name)}${meant}`, {
    hint: `the views are ${listNames(all)}`,
  });
}

function assertEach(
  views: readonly ReportView[],
  all: readonly ReportView[],
  option: string,
  lack: string,
  takes: (view: ReportView) => boolean,
): void {
  const refusing = views.filter((view) => !takes(view));
  if (refusing.length === 0) return;
  throw new UsageError(`${option} does not apply to ${listNames(refusing)}: there is ${lack}`, {
    hint: `it applies to ${listNames(all.filter(takes))}; export the others separately`,
  });
}

const listNames = (views: readonly ReportView[]) => views.map(({ name }) => name).join(", ");
const hasOwner = ({ columns }: ReportView) => columns.some(({ name }) => name === "owner");
const hasTime = ({ name }: ReportView) => TIME_COLUMNS[name] !== undefined;

/** The query whose rows are exported. */
export function toSelect(
  { view, columns }: PlannedView,
  { asOf, since, owners }: ExportFilters,
  times: TimeNotation,
): BoundStatement {
  const values: unknown[] = [];
  const bind = (value: unknown) => `$${values.push(value)}`;
  const from =
    asOf === null
      ? `simcat_report.${quoteIdentifier(view.name)}`
      : `simcat_report.${quoteIdentifier(`${view.name}_as_of`)}(${bind(asOf)}::timestamptz)`;
  const conditions = [
    ...(since === null ? [] : [toCondition(view, bind(since))]),
    ...(owners.length === 0 ? [] : [`owner = ANY (${bind(owners)}::text[])`]),
  ];
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return {
    text: `SELECT ${columns.map((column) => toSelectItem(column, times)).join(", ")} FROM ${from}${where}`,
    values,
  };
}

/** A day is exported if any of it is since that moment. */
function toCondition({ name, columns }: ReportView, since: string): string {
  const column = TIME_COLUMNS[name] ?? "";
  const isDay = columns.some((one) => one.name === column && one.type === "date");
  return isDay ? `${column} >= (${since}::timestamptz AT TIME ZONE 'UTC')::date` : `${column} >= ${since}::timestamptz`;
}
