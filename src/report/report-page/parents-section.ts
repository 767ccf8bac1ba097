import { sum } from "d3-array";
import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../../format.ts";
import { barChart } from "../charts/bar-chart.ts";
import { type LegendItem, legend } from "../charts/svg.ts";
import { foreignText } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { formatOthers, formatPercent, note, numbersTable, type Section } from "./section.ts";

const WITHOUT: LegendItem = { name: "without results", tone: "second" };
const WITH: LegendItem = { name: "with results", tone: "first", hollow: true };

/** The scenarios that have no results, by owner. */
export function parentsSection({ parents, staleResults }: ReportRows): Section | null {
  const all = sum(parents, (row) => row.parents);
  const without = sum(parents, (row) => row.withoutResults);
  if (sum(parents, (row) => row.scenarios) === 0) return null;
  if (all === 0) return { id: "parents", finding: "There are results, but no parents", body: html`` };
  const finding = findingOf(all, without);
  const chart = barChart({
    label: `${finding}. Parents without and with results, by owner.`,
    bars: parents.flatMap(({ owner, parents: count, withoutResults }) => {
      const parts = [
        { ...WITHOUT, value: withoutResults },
        { ...WITH, value: count - withoutResults },
      ];
      const end = `${formatCount(withoutResults)} of ${formatCount(count)}`;
      return owner === null ? [] : [{ name: owner, parts, end }];
    }),
  });
  const others = parents.find(({ owner }) => owner === null);
  const rows = parents.map(({ owner, owners, parents: count, withoutResults, scenarios }) => [
    owner === null ? formatOthers(owners) : foreignText(owner),
    formatCount(withoutResults),
    formatCount(count - withoutResults),
    formatCount(scenarios - count),
  ]);
  const titles = ["without results", "with results", "results"].map((title) => ({ title, isNumber: true }));
  return {
    id: "parents",
    finding,
    // The finding says all about a single owner.
    body: html`${parents.length === 1 ? null : html`${legend([WITHOUT, WITH])}${chart}`}
${note(
  others === undefined
    ? null
    : `Not drawn: ${formatOthers(others.owners)} with ${formatCount(others.withoutResults)} of ${plural(others.parents, "parent")}. `,
  "A parent is a scenario that is not a result. It has results if a live result of its library names it as its parent. ",
  staleResults === 0
    ? null
    : `${plural(staleResults, "parent was", "parents were")} edited after the latest result: see the view simcat_report.stale_results.`,
)}
${numbersTable([{ title: "owner" }, ...titles], rows)}`,
  };
}

function findingOf(all: number, without: number): string {
  if (all === 1) return without === 0 ? "The only parent has results" : "The only parent has no results";
  if (without === 0) return `All ${formatCount(all)} parents have results`;
  return `${formatCount(without)} of ${formatCount(all)} parents (${formatPercent(without, all)}) ${without === 1 ? "has" : "have"} no results`;
}
