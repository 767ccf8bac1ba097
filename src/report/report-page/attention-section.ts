import type { ReportRows } from "../../db/read/read-report.ts";
import { plural } from "../../format.ts";
import { formatExplainCommand, remedyAfter } from "../../output/next-step.ts";
import { DAY_MS } from "../../units.ts";
import { failingList } from "../html/failing-list.ts";
import { html } from "../html/html.ts";
import { badgeOf, formatBadge, type StatusBadge } from "../html/status-badge.ts";
import { formatMinute, timeOf } from "../html/times.ts";
import type { Section } from "./section.ts";

/** A problem that the operator should look at, with a command or a place that helps. */
interface AttentionItem extends StatusBadge {
  /** It may be intended, so it is listed and not counted. */
  readonly isInfo?: boolean;
  readonly advice: string;
}

/** The problems that the operator should look at. */
export function attentionSection(rows: ReportRows): Section {
  const items = attentionItems(rows);
  const problems = items.filter(({ isInfo = false }) => !isInfo).length;
  const remarks = items.length - problems;
  const finding =
    (problems === 0 ? "Nothing needs attention" : `${plural(problems, "problem needs", "problems need")} attention`) +
    (remarks === 0 ? "" : `; ${plural(remarks, "remark", "remarks")}`);
  const lines = items.map(({ advice, ...badge }) => html`<li>${formatBadge(badge)}<p>${advice}</p></li>\n`);
  const failing = rows.failing.map((row) => ({ ...row, lastGoodAt: row.lastReadAt }));
  const [first] = rows.failing;
  return {
    id: "attention",
    finding,
    isWide: true,
    body: html`${items.length === 0 ? null : html`<ul class="items">${lines}</ul>`}
${first === undefined ? null : html`<h3>Libraries that fail or have rejects</h3>${failingList(failing, first.total, timeOf, "the view simcat_report.library_freshness")}`}`,
  };
}

/** The most serious first. */
function attentionItems(rows: ReportRows): AttentionItem[] {
  return [...runItems(rows), ...libraryItems(rows), ...dataQualityItems(rows)];
}

function runItems({ now, complete, runs }: ReportRows): AttentionItem[] {
  const last = runs.at(-1);
  if (last === undefined) {
    return [{ variant: "failed", label: "No run yet", advice: "run simcat check, then simcat backfill" }];
  }
  const items: AttentionItem[] = [];
  const { completeAsOf, librariesBehind } = complete;
  if (complete.lastWholeRunId === null) {
    const advice = "simcat check, then simcat sync; simcat status shows what the last runs did";
    items.push({ variant: "failed", label: "No run has read the whole listing yet", advice });
  } else if (completeAsOf === null) {
    const advice = "simcat status lists the libraries that have not been read completely";
    items.push({ variant: "failed", label: "Some listed libraries are not stored yet", advice });
  } else if (now.getTime() - completeAsOf.getTime() > DAY_MS) {
    const label = `The copy is complete only as of ${formatMinute(completeAsOf)} UTC`;
    items.push({
      variant: "failed",
      label,
      advice:
        librariesBehind === 0
          ? "no run has read the whole listing since; see simcat status"
          : `${plural(librariesBehind, "library is", "libraries are")} behind; see simcat status`,
    });
  }
  if (last.status !== "ok" && last.status !== "running") {
    const { variant, label } = badgeOf(last.status);
    items.push({
      variant,
      label: `The last run ended as ${label}`,
      advice: remedyAfter(last.status) ?? "simcat status lists the libraries that need another read",
    });
  }
  return items;
}

function libraryItems({ failing, complete }: ReportRows): AttentionItem[] {
  const [failed] = failing;
  const { unaddressable } = complete;
  return [
    ...(failed === undefined
      ? []
      : [
          {
            variant: "partial",
            label: `${plural(failed.total, "library fails or has", "libraries fail or have")} rejects`,
            advice: `${formatExplainCommand(failed)} shows why`,
          } as const,
        ]),
    ...(unaddressable === 0
      ? []
      : [
          {
            variant: "partial",
            label: `${plural(unaddressable, "library has a name", "libraries have names")} that cannot be requested or stored`,
            advice: `rename ${unaddressable === 1 ? "it" : "them"} in the service`,
          } as const,
        ]),
  ];
}

const PROBLEMS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  date_not_understood: [
    "date is in a format that simcat does not know",
    "dates are in formats that simcat does not know",
  ],
  no_date: [
    "library is listed without a date and is read by every run",
    "libraries are listed without a date and are read by every run",
  ],
  size_not_understood: [
    "size is in a format that simcat does not know",
    "sizes are in formats that simcat does not know",
  ],
  names_differ_by_case: [
    "library name differs from another only in upper and lower case",
    "library names differ from others only in upper and lower case",
  ],
  result_without_parent: ["result has no parent", "results have no parent"],
  parent_but_no_result: ["scenario has a parent but is not a result", "scenarios have a parent but are not results"],
  own_parent: ["scenario is its own parent", "scenarios are their own parents"],
  parent_missing: ["scenario names a parent that does not exist", "scenarios name a parent that does not exist"],
  parent_cycle: ["scenario is its own ancestor", "scenarios are their own ancestors"],
  future_date: ["date is in the future", "dates are in the future"],
  no_size: ["library has no size", "libraries have no size"],
  name_under_two_owners: [
    "library has the same name as one of another owner",
    "libraries have the same names as those of other owners",
  ],
  open_reject: ["item could not be stored (a reject)", "items could not be stored (rejects)"],
};

const SEVERITIES = { error: "failed", warning: "partial", info: "neutral" } as const;

const FIXERS = {
  uploader: "the owner of the library",
  operator: "the operator of simcat",
  service: "the operator of the service",
} as const;

function dataQualityItems({ problems }: ReportRows): AttentionItem[] {
  return problems.map(({ problem, severity, fixBy, rows }) => {
    const [one, many] = PROBLEMS[problem] ?? [`case of ${problem}`, `cases of ${problem}`];
    const advice = `${FIXERS[fixBy]} can fix it: SELECT * FROM simcat_report.data_quality WHERE problem = '${problem}'`;
    return { variant: SEVERITIES[severity], label: plural(rows, one, many), advice, isInfo: severity === "info" };
  });
}
