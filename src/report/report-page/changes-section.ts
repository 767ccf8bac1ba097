import { sum } from "d3-array";
import { formatCount, formatLast, formatLibraries, plural } from "../../format.ts";
import type { LibraryKey } from "../../model.ts";
import { DAY_MS } from "../../units.ts";
import { columnChart, legend, type TimeStep } from "../charts.ts";
import { type Column, formatDay, formatMinute, formatWith, htmlTable, libraryName, timeOf } from "../html/elements.ts";
import { type Html, html } from "../html/html.ts";
import { knownEndOf, OF_OWNERS, periodOf } from "./facts.ts";
import { countColumn, note, numbersTable, type Section, shortName } from "./section.ts";

/** The counts are those of its scenarios. */
interface ChangedLibrary extends LibraryKey, Readonly<Record<(typeof SERIES)[number]["kind"], number>> {
  /** The newest event of the library itself; null if only its scenarios changed. */
  readonly library: string | null;
  readonly lastChangedAt: Date;
  /** How many libraries changed. */
  readonly total: number;
}

/** Libraries that moved from one owner to another in one run. `total`: how many moved in all runs. */
type Move = Readonly<Record<"oldOwner" | "newOwner", string> & Record<"libraries" | "total", number>>;

const MOVES = `
  SELECT run_id, old_owner, new_owner, array_agg(library_name) AS names
  FROM simcat_report.library_moves
  WHERE seen_at >= $changes_since AND ($owners::text[] IS NULL OR old_owner = ANY($owners) OR new_owner = ANY($owners))
  GROUP BY 1, 2, 3`;

/** The events since the history is complete, with what each did to the number of live rows. Those of a move are left out. */
const EVENTS = `(
  WITH move AS MATERIALIZED (${MOVES})
  SELECT owner, library_name, entity, kind AS event, seen_at,
    CASE WHEN kind IN ('added', 'returned', 'returned_with_library') THEN 'added'
      WHEN kind IN ('removed', 'went_with_library') THEN 'removed' ELSE 'changed' END AS kind
  FROM simcat_report.activity a
  WHERE ${OF_OWNERS} AND seen_at >= $changes_since AND kind <> 'loaded' AND NOT EXISTS (
    SELECT FROM move m
    WHERE m.run_id = a.run_id AND a.owner IN (m.old_owner, m.new_owner) AND a.library_name = ANY(m.names)
  )
) AS event`;

const SERIES = [
  { kind: "added", name: "added or returned", paint: "solid first" },
  { kind: "changed", name: "changed", paint: "hollow first" },
  { kind: "removed", name: "removed (below the line)", paint: "solid second", below: true },
] as const;

/** The series of one kind of item, in a panel of its own. */
const panelOf = (entity: "library" | "scenario", many: string) => {
  return { entity, many, series: SERIES.map((series) => ({ ...series, key: `${entity} ${series.kind}` })) };
};
const SCENARIO_PANEL = panelOf("scenario", "scenarios");
const PANELS = [panelOf("library", "libraries"), SCENARIO_PANEL];

const STEP_FORMATS = {
  hour: formatMinute,
  day: formatDay,
  week: formatWith("week of %-d %b %Y"),
  month: formatWith("%B %Y"),
};

/** The libraries and scenarios that runs found to be new, changed or removed. */
export const changesSection: Section<{ changes: TimeStep; changed: ChangedLibrary; moves: Move }> = {
  id: "changes",
  isWide: true,
  queries: {
    changes: `
SELECT at, at + $step_length::interval AS "end", coalesce(counts, '{}') AS counts, at IN (
    SELECT generate_series(date_trunc($step::text, seen_as_of), CASE WHEN seen_as_of < started_at THEN seen_as_of ELSE finished_at END, $step_length::interval)
    FROM simcat_report.run_history WHERE saw_everything AND finished_at >= $changes_since
  ) AS "isKnown"
FROM generate_series(date_trunc($step::text, coalesce($changes_since::timestamptz, $since)), now(), $step_length::interval) AS at
LEFT JOIN (
  SELECT at, jsonb_object_agg(entity || ' ' || kind, count) AS counts
  FROM (SELECT date_trunc($step::text, least(seen_at, now())) AS at, entity, kind, count(*) FROM ${EVENTS} GROUP BY 1, 2, 3) AS counted
  GROUP BY at
) AS counted USING (at)
ORDER BY at`,
    changed: `
SELECT owner, library_name AS name, (array_agg(event ORDER BY seen_at DESC) FILTER (WHERE entity = 'library'))[1] AS library,
  ${SERIES.map(({ kind }) => `count(*) FILTER (WHERE entity = 'scenario' AND kind = '${kind}') AS ${kind}`)},
  max(seen_at) AS "lastChangedAt", count(*) OVER () AS total
FROM ${EVENTS} GROUP BY owner, library_name ORDER BY max(seen_at) DESC, owner, library_name LIMIT $max_shown`,
    moves: `
SELECT old_owner AS "oldOwner", new_owner AS "newOwner", cardinality(names) AS libraries, (sum(cardinality(names)) OVER ())::int AS total
FROM (${MOVES}) AS move ORDER BY run_id DESC, 1, 2 LIMIT $max_alike`,
  },
  finding({ changes, changed: [first], moves, ...facts }) {
    const { changesSince, complete, runs } = facts;
    if (runs.length === 0) return null;
    if (complete.historyCompleteSince === null) return "Changes are counted after the first run that sees everything";
    const periodMs = facts.now.getTime() - facts.since.getTime();
    // A period of less than a week must be known better than to a day.
    const end = knownEndOf(facts, Math.min(DAY_MS, periodMs / 7));
    const { at, until } = end;
    const since = `since ${formatMinute(changesSince)}`;
    const recent = changesSince > facts.since ? since : `in the ${formatLast(periodMs)}`;
    // Runs of selected libraries may have found some later.
    const time = until === "" ? recent : periodOf(changesSince, since, end);
    const moved = moves.map(({ oldOwner, newOwner, libraries }) => {
      return `${formatLibraries(libraries)} moved from ${shortName(oldOwner)} to ${shortName(newOwner)}`;
    });
    const others = (moves[0]?.total ?? 0) - sum(moves, ({ libraries }) => libraries);
    if (others > 0) moved.push(`${formatLibraries(others)} moved between other owners`);
    if (until !== "" && at <= changesSince && first === undefined)
      return `Nothing is known ${since}: the copy is complete ${until}`;
    if (first !== undefined) {
      const totals = totalsOf(changes, SCENARIO_PANEL.series);
      const scenarios = totals === "" ? "no scenarios" : `scenarios: ${totals}`;
      return [`${formatLibraries(first.total)} changed ${time}`, scenarios, ...moved].join("; ");
    }
    return moves.length === 0 ? `Nothing changed ${time}` : [...moved, `no other library changed ${time}`].join("; ");
  },
  figure({ changes: steps, changed, now, since, changesSince, step }) {
    // Why an earlier part of the time has no changes: the initial load, or a prune.
    const begin = html`The history is complete since ${timeOf(changesSince)}; earlier changes, such as those of the initial load, are not counted.`;
    const scope = changesSince > since ? begin : null;
    // Two partial steps are no course of time; the finding has their numbers.
    const hasCourse = steps.length > 2 && (changed.length > 0 || steps.some(({ isKnown }) => !isKnown));
    if (!hasCourse) return html`${note(scope)}${changedTable(changed)}`;
    const formatStep = STEP_FORMATS[step];
    const panels = PANELS.map(({ entity, many, series }) => {
      return html`<figure>${columnChart({
        label: `Added, changed and removed ${many} by ${step}: ${totalsOf(steps, series)}`,
        unit: many,
        from: changesSince,
        to: now,
        steps,
        series,
        describe: (start, count) => `${formatStep(start)}: ${plural(count, entity, many)}`,
      })}</figure>`;
    });
    const columns = PANELS.flatMap(({ many, series }) =>
      series.map(({ kind, key }) => countColumn(`${many} ${kind}`, key)),
    );
    return html`${legend(SERIES)}
<div class="panels">${panels}</div>
${note(`By the ${step} (UTC) in which a run of simcat found the change. Pale: ${step === "day" ? "today" : `this ${step}`} so far. Shaded: before this time, or unknown because no run saw everything. `, scope)}
${numbersTable(steps, [[`${step} (UTC)`, ({ at, isKnown }) => `${formatStep(at)}${isKnown ? "" : ", unknown"}`], ...columns])}
${changedTable(changed)}`;
  },
};

/** `3 added, 1 removed`. Zeros are left out. */
function totalsOf(steps: readonly TimeStep[], series: ReturnType<typeof panelOf>["series"]): string {
  const totals = series.map(({ kind, key }) => ({ kind, count: sum(steps, ({ counts }) => counts[key] ?? 0) }));
  return totals.flatMap(({ kind, count }) => (count > 0 ? `${formatCount(count)} ${kind}` : [])).join(", ");
}

function changedTable(changed: readonly ChangedLibrary[]): Html | null {
  const [first] = changed;
  if (first === undefined) return null;
  const table = htmlTable(changed, [
    ["library", libraryName],
    ["itself", (row) => row.library ?? ""],
    ...SERIES.map(({ kind }): Column<ChangedLibrary> => [`scenarios ${kind}`, (row) => row[kind] || "", "number"]),
    ["last change (UTC)", (row) => timeOf(row.lastChangedAt)],
  ]);
  const left = first.total - changed.length;
  return html`${table}${left > 0 ? note(`… and ${formatLibraries(left)} more.`) : null}`;
}
