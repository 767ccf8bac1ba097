import type { ReportRows } from "../../db/read-report.ts";
import { formatCount, plural } from "../amounts.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatOutcome, type Outcome, outcomeOf } from "../html/outcome.ts";
import { htmlTable } from "../html/table.ts";
import { foreign, libraryName } from "../html/text.ts";
import { ago } from "../html/when.ts";
import { formatAgo } from "../moments.ts";
import { remark, type Section } from "./section.ts";

const DAY_MS = 86_400_000;

interface Concern {
  readonly tone: Outcome["tone"];
  readonly words: string;
  readonly todo: string;
}

/** What somebody should look at, the gravest first. */
export function attentionSection(rows: ReportRows): Section {
  const concerns = [...ofRuns(rows), ...ofLibraries(rows), ...ofValues(rows)];
  const finding =
    concerns.length === 0
      ? "Nothing needs attention"
      : `${plural(concerns.length, "thing needs", "things need")} attention`;
  const items = concerns.map(
    ({ tone, words, todo }) => html`<li>${formatOutcome({ tone, words })} <small>${todo}</small></li>\n`,
  );
  return {
    id: "attention",
    finding,
    body: html`${concerns.length === 0 ? null : html`<ul class="concerns">${items}</ul>`}${failingTable(rows)}`,
  };
}

function ofRuns({ now, complete, runs }: ReportRows): Concern[] {
  const last = runs.at(-1);
  if (last === undefined) return [{ tone: "failed", words: "No run yet", todo: "simcat check, then simcat backfill" }];
  const concerns: Concern[] = [];
  const { completeAsOf, librariesBehind } = complete;
  if (completeAsOf === null) {
    const todo = "simcat status says which libraries lack a whole read";
    concerns.push({ tone: "failed", words: "Not everything was stored yet", todo });
  } else if (now.getTime() - completeAsOf.getTime() > DAY_MS) {
    const words = `The copy is complete only up to ${formatAgo(completeAsOf, now)}`;
    concerns.push({
      tone: "failed",
      words,
      todo: `${plural(librariesBehind, "library is", "libraries are")} behind; see simcat status`,
    });
  }
  if (last.status !== "ok" && last.status !== "running") {
    const { tone, words } = outcomeOf(last.status);
    concerns.push({
      tone,
      words: `The last run ended as ${words}`,
      todo: "its remark stands with the runs; see simcat status",
    });
  }
  return concerns;
}

function ofLibraries({ failing, complete }: ReportRows): Concern[] {
  const total = failing[0]?.total ?? 0;
  const { unaddressable } = complete;
  return [
    ...(total === 0
      ? []
      : [
          {
            tone: "partial",
            words: `${plural(total, "library fails or has", "libraries fail or have")} rejects`,
            todo: "simcat explain OWNER/NAME tells why",
          } as const,
        ]),
    ...(unaddressable === 0
      ? []
      : [
          {
            tone: "partial",
            words: `${plural(unaddressable, "library has a name", "libraries have names")} that no URL can carry`,
            todo: "rename it in the service",
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
    "library is listed without a date, and read in every run",
    "libraries are listed without a date, and read in every run",
  ],
  size_not_understood: [
    "size is in a format that simcat does not know",
    "sizes are in formats that simcat does not know",
  ],
  names_differ_by_case: [
    "library differs from another by capitals alone",
    "libraries differ from others by capitals alone",
  ],
  result_without_parent: ["result has no parent", "results have no parent"],
  parent_but_no_result: ["scenario has a parent and is no result", "scenarios have a parent and are no results"],
  own_parent: ["scenario is its own parent", "scenarios are their own parents"],
  parent_missing: ["scenario names a parent that is not there", "scenarios name a parent that is not there"],
  parent_cycle: [
    "scenario has itself among its parents' parents",
    "scenarios have themselves among their parents' parents",
  ],
  open_reject: ["item could not be stored (a reject)", "items could not be stored (rejects)"],
};

function ofValues({ problems }: ReportRows): Concern[] {
  return problems.map(({ problem, rows }) => {
    const [one, many] = PROBLEMS[problem] ?? [`case of ${problem}`, `cases of ${problem}`];
    const todo = `SELECT * FROM simcat_report.data_quality WHERE problem = '${problem}'`;
    return { tone: "cut", words: plural(rows, one, many), todo };
  });
}

function failingTable({ failing, now }: ReportRows): Html | null {
  const [first] = failing;
  if (first === undefined) return null;
  const columns = [
    { title: "library" },
    { title: "last whole copy" },
    { title: "failed in a row", isNumber: true },
    { title: "open rejects", isNumber: true },
    { title: "last error" },
  ];
  const rows: Part[][] = failing.map((row) => [
    libraryName(row),
    ago(row.lastReadAt, now),
    formatCount(row.failures),
    formatCount(row.openRejects),
    row.lastError === null ? "" : foreign(row.lastError, 160),
  ]);
  const left = first.total - failing.length;
  return html`${htmlTable(columns, rows)}${left > 0 ? remark(`… and ${formatCount(left)} more; see the view simcat_report.library_freshness.`) : null}`;
}
