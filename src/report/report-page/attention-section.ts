import { formatCount, plural } from "../../format.ts";
import { formatExplainCommand, OLD_AFTER_MS, remedyAfter } from "../../output/status.ts";
import { badgeOf, formatBadge, type Variant } from "../html/badges.ts";
import { failingList, foreignText, formatMinute, libraryName, listOf } from "../html/elements.ts";
import { html, type Part } from "../html/html.ts";
import { isSuccess } from "../html/runs-figure.ts";
import { type Facts, OF_OWNERS } from "./facts.ts";
import type { Section } from "./section.ts";

interface Problem {
  readonly problem: string;
  readonly severity: "error" | "warning" | "info";
  readonly fixBy: "uploader" | "operator" | "service";
  readonly rows: number;
  /** The first of them. A reject may have no readable key. `value`: the field and its value. */
  readonly items: readonly Readonly<Record<"owner" | "name" | "scenarioId" | "value", string | null>>[];
}

export const attentionSection: Section<{ problems: Problem }> = {
  id: "attention",
  isWide: true,
  queries: {
    problems: `
SELECT problem, severity, fix_by AS "fixBy", count(*) AS rows, json_agg(
  json_build_object('owner', owner, 'name', library_name, 'scenarioId', scenario_id::text,
    'value', CASE WHEN problem = 'open_reject' THEN detail WHEN field <> 'library_name' THEN field || ' ' || value END) ORDER BY place
) FILTER (WHERE place <= $max_alike) AS items
FROM (
  SELECT *, row_number() OVER (PARTITION BY problem, severity, fix_by ORDER BY owner, library_name, scenario_id) AS place
  FROM simcat_report.data_quality WHERE ${OF_OWNERS}
) AS found
GROUP BY 1, 2, 3 ORDER BY array_position(ARRAY['error', 'warning', 'info'], severity), 4 DESC, 1`,
  },
  finding({ problems, ...facts }) {
    const remarks = problems.filter(({ severity }) => severity === "info").length;
    const count = itemsOf(facts).length + problems.length - remarks;
    const needs =
      count === 0 ? "Nothing needs attention" : `${plural(count, "problem needs", "problems need")} attention`;
    return remarks === 0 ? needs : `${needs}; ${plural(remarks, "remark", "remarks")}`;
  },
  figure({ problems, ...facts }) {
    const items = [...itemsOf(facts), ...problems.map(problemItem)];
    const [first] = facts.failing;
    return html`${items.length === 0 ? null : listOf(items)}
${first === undefined ? null : html`<h3>Libraries that fail or have rejects</h3>${failingList(facts.failing, first.total)}`}`;
  },
};

const ADVICE = "simcat status shows what the last runs did, and what to do next";

/** Problems, each with a command or a place that helps. The most serious first. */
function itemsOf({ now, complete, runs, failing }: Facts) {
  const items: Part[][] = [];
  const add = (variant: Variant, label: string, advice: string) =>
    items.push([formatBadge({ variant, label }), advice]);
  const { completeAsOf, librariesBehind, lastWholeRunId } = complete;
  const last = runs.at(-1);
  if (last === undefined) {
    add("failed", "No run yet", "run simcat check, then simcat backfill");
  } else if (lastWholeRunId === null) {
    add("failed", "No run has seen everything yet", ADVICE);
  } else if (completeAsOf === null) {
    const advice = "simcat libraries shows which have not been read completely";
    add("failed", "Some listed libraries were never stored completely, or came from a cache of unknown age", advice);
  } else if (now.getTime() - completeAsOf.getTime() > OLD_AFTER_MS) {
    const behind = `${plural(librariesBehind, "library is", "libraries are")} behind; simcat libraries shows which`;
    const late = "no run has seen everything since, or a cache answered; see simcat status";
    const advice = librariesBehind === 0 ? late : behind;
    add("failed", `The copy is complete only as of ${formatMinute(completeAsOf)} UTC`, advice);
  }
  for (const run of new Set([last, runs.findLast(({ scope }) => scope === null)])) {
    if (run === undefined || isSuccess(run.status)) continue;
    const { variant, label } = badgeOf(run.status);
    add(
      variant,
      `The last run ${run === last ? "" : "of all libraries "}ended as ${label}`,
      remedyAfter(run) ?? ADVICE,
    );
  }
  const [failed] = failing;
  if (failed !== undefined) {
    const fail = plural(failed.total, "library fails or has", "libraries fail or have");
    add("partial", `${fail} rejects`, `${formatExplainCommand(failed)} shows why`);
  }
  return items;
}

/** One or many, and the rest of the sentence. */
const PROBLEMS: Readonly<Record<string, readonly [one: string, many: string, rest?: string]>> = {
  date_not_understood: ["date is in a format", "dates are in formats", "that simcat does not know"],
  no_date: ["library is", "libraries are", "listed without a date: only reading shows what changed"],
  size_not_understood: ["size is in a format", "sizes are in formats", "that simcat does not know"],
  names_differ_by_case: ["library name differs", "library names differ", "from another only in upper and lower case"],
  result_without_parent: ["result has", "results have", "no parent"],
  parent_but_no_result: ["scenario has a parent but is not a result", "scenarios have a parent but are not results"],
  own_parent: ["scenario is its own parent", "scenarios are their own parents"],
  parent_missing: ["scenario names", "scenarios name", "a parent that does not exist"],
  parent_cycle: ["scenario is its own ancestor", "scenarios are their own ancestors"],
  future_date: ["date is", "dates are", "in the future"],
  no_size: ["library has", "libraries have", "no size"],
  name_under_two_owners: ["library has", "libraries have", "the same name as a library of another owner"],
  future_version: ["event has", "events have", "a time to come: the clock of the database was ahead, or is behind now"],
  open_reject: ["item could not be stored (a reject)", "items could not be stored (rejects)"],
};

const SEVERITIES = { error: "failed", warning: "partial", info: "neutral" } as const;

const FIXERS = {
  uploader: "the owner of the library",
  operator: "the operator of simcat",
  service: "the operator of the service",
} as const;

function problemItem({ problem, severity, fixBy, rows, items }: Problem) {
  const [one, many, rest = ""] = PROBLEMS[problem] ?? ["case", "cases", `of ${problem}`];
  const named = items.map(({ owner, name, scenarioId, value }) => {
    const library = owner === null ? "an item without a name" : libraryName({ owner, name: name ?? "" });
    const shown = value === null ? null : html`: ${foreignText(value)}`;
    return html`<br>${library}${scenarioId === null ? null : `, scenario ${scenarioId}`}${shown}`;
  });
  const others = rows > items.length ? html`<br>… and ${formatCount(rows - items.length)} more` : null;
  const badge = { variant: SEVERITIES[severity], label: `${plural(rows, one, many)} ${rest}`.trimEnd() };
  return [formatBadge(badge), html`${FIXERS[fixBy]} can fix ${rows === 1 ? "it" : "them"}:${named}${others}`];
}
