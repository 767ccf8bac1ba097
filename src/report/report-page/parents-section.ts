import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount } from "../../format.ts";
import type { DrawChart } from "../charts/chart-renderer.ts";
import { foreignText } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { formatOthers, formatPercent, note, numbersTable, type Section } from "./section.ts";

/** The scenarios that have no results, by owner. */
export function parentsSection({ parents }: ReportRows, draw: DrawChart): Section | null {
  const sum = (of: (row: ReportRows["parents"][number]) => number) =>
    parents.reduce((total, row) => total + of(row), 0);
  const all = sum((row) => row.parents);
  const without = sum((row) => row.withoutResults);
  if (sum((row) => row.scenarios) === 0) return null;
  if (all === 0) return { id: "parents", finding: "There are results, but no parents", body: html`` };
  const finding = findingOf(all, without);
  const names = parents.map(({ owner, owners }) => owner ?? formatOthers(owners));
  const chart = draw({
    label: `${finding}. Parents with and without results, by owner.`,
    kind: "bars",
    things: "owner",
    names,
    unit: "parents",
    formatValue: formatCount,
    series: [
      { name: "with results", tone: "first", values: parents.map((row) => row.parents - row.withoutResults) },
      { name: "without results", tone: "second", hollow: true, values: parents.map((row) => row.withoutResults) },
    ],
    ends: parents.map((row) => `${formatCount(row.withoutResults)} without`),
  });
  const rows = parents.map(({ owner, owners, parents: count, withoutResults, scenarios }) => [
    owner === null ? formatOthers(owners) : foreignText(owner),
    formatCount(count - withoutResults),
    formatCount(withoutResults),
    formatCount(scenarios - count),
  ]);
  const titles = ["with results", "without results", "results"].map((title) => ({ title, isNumber: true }));
  return {
    id: "parents",
    finding,
    body: html`${chart}
${note("A parent is a scenario that is not a result. It has results if a live result of its library names it as its parent. The owners with the most parents without results are at the top.")}
${numbersTable([{ title: "owner" }, ...titles], rows)}`,
  };
}

function findingOf(all: number, without: number): string {
  if (all === 1) return without === 0 ? "The only parent has results" : "The only parent has no results";
  if (without === 0) return `All ${formatCount(all)} parents have results`;
  return `${formatCount(without)} of ${formatCount(all)} parents (${formatPercent(without, all)}) ${without === 1 ? "has" : "have"} no results`;
}
