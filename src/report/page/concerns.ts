import type { ReportRows } from "../../db/read/read-report.ts";
import { plural } from "../amounts.ts";
import { type Outcome, outcomeOf } from "../html/outcome.ts";
import { formatAgo } from "../moments.ts";
import { explainCommand } from "../next-step.ts";

const DAY_MS = 86_400_000;

/** One thing that somebody should look at, and what to do about it. */
export interface Concern {
  readonly tone: Outcome["tone"];
  readonly words: string;
  readonly todo: string;
}

/** The gravest first. */
export function concernsOf(rows: ReportRows): Concern[] {
  return [...ofRuns(rows), ...ofLibraries(rows), ...ofValues(rows)];
}

function ofRuns({ now, complete, runs }: ReportRows): Concern[] {
  const last = runs.at(-1);
  if (last === undefined) return [{ tone: "failed", words: "No run yet", todo: "simcat check, then simcat backfill" }];
  const concerns: Concern[] = [];
  const { completeAsOf, librariesBehind } = complete;
  if (completeAsOf === null) {
    const todo = "simcat status says what lacks a whole read";
    concerns.push({ tone: "failed", words: "Not everything was stored yet", todo });
  } else if (now.getTime() - completeAsOf.getTime() > DAY_MS) {
    const words = `The copy is complete only up to ${formatAgo(completeAsOf, now)}`;
    concerns.push({
      tone: "failed",
      words,
      todo:
        librariesBehind === 0
          ? "no run saw everything since; see simcat status"
          : `${plural(librariesBehind, "library is", "libraries are")} behind; see simcat status`,
    });
  }
  if (last.status !== "ok" && last.status !== "running") {
    const { tone, words } = outcomeOf(last.status);
    concerns.push({
      tone,
      words: `The last run ended as ${words}`,
      todo: last.error === null ? "see simcat status" : "its remark stands with the runs; see simcat status",
    });
  }
  return concerns;
}

function ofLibraries({ failing, complete }: ReportRows): Concern[] {
  const [failed] = failing;
  const { unaddressable } = complete;
  return [
    ...(failed === undefined
      ? []
      : [
          {
            tone: "partial",
            words: `${plural(failed.total, "library fails or has", "libraries fail or have")} rejects`,
            todo: `${explainCommand(failed)} tells why`,
          } as const,
        ]),
    ...(unaddressable === 0
      ? []
      : [
          {
            tone: "partial",
            words: `${plural(unaddressable, "library has a name", "libraries have names")} that no copy can hold`,
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
