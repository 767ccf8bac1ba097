import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { html } from "../html/html.ts";
import { foreign } from "../html/text.ts";
import { numbers, othersOf, percent, remark, type Section } from "./section.ts";

/** Which scenarios were never run. */
export function parentsSection({ parents }: ReportRows, draw: Draw): Section | null {
  const sum = (of: (row: ReportRows["parents"][number]) => number) =>
    parents.reduce((total, row) => total + of(row), 0);
  const all = sum((row) => row.parents);
  const without = sum((row) => row.withoutResults);
  if (sum((row) => row.scenarios) === 0) return null;
  if (all === 0)
    return { id: "parents", finding: "There are results, and no parents that they could be of", body: html`` };
  const finding = findingOf(all, without);
  const names = parents.map(({ owner, owners }) => owner ?? othersOf(owners));
  const chart = draw({
    label: `${finding}. Parents with and without results, by owner.`,
    kind: "bars",
    things: "owner",
    names,
    unit: "parents",
    formatValue: formatCount,
    series: [
      { name: "with results", tone: "first", values: parents.map((row) => row.parents - row.withoutResults) },
      { name: "without", tone: "second", hollow: true, values: parents.map((row) => row.withoutResults) },
    ],
    ends: parents.map((row) => `${formatCount(row.withoutResults)} without`),
  });
  const rows = parents.map(({ owner, owners, parents: count, withoutResults, scenarios }) => [
    owner === null ? othersOf(owners) : foreign(owner),
    formatCount(count - withoutResults),
    formatCount(withoutResults),
    formatCount(scenarios - count),
  ]);
  const titles = ["with results", "without", "results"].map((title) => ({ title, isNumber: true }));
  return {
    id: "parents",
    finding,
    body: html`${chart}
${remark("A parent is a scenario that is no result; it has results when a live result of its library names it as parent. Owners with the most parents without results come first.")}
${numbers([{ title: "owner" }, ...titles], rows)}`,
  };
}

function findingOf(all: number, without: number): string {
  if (all === 1) return without === 0 ? "The one parent has results" : "The one parent has no result";
  if (without === 0) return `Each of ${formatCount(all)} parents has results`;
  return `${formatCount(without)} of ${formatCount(all)} parents (${percent(without, all)}) ${without === 1 ? "has" : "have"} no result`;
}
