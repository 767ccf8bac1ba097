import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../../format.ts";
import { foreignText, htmlTable, libraryName, timeAgo } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatBadge } from "../html/status-badge.ts";
import { attentionItems } from "./attention-items.ts";
import { note, type Section } from "./section.ts";

/** The problems that the operator should look at. */
export function attentionSection(rows: ReportRows): Section {
  const items = attentionItems(rows);
  const finding =
    items.length === 0
      ? "Nothing needs attention"
      : `${plural(items.length, "problem needs", "problems need")} attention`;
  const lines = items.map(({ advice, ...badge }) => html`<li>${formatBadge(badge)} <small>${advice}</small></li>\n`);
  return {
    id: "attention",
    finding,
    body: html`${items.length === 0 ? null : html`<ul class="attention">${lines}</ul>`}${failingTable(rows)}`,
  };
}

function failingTable({ failing, now }: ReportRows): Html | null {
  const [first] = failing;
  if (first === undefined) return null;
  const columns = [
    { title: "library" },
    { title: "last good copy" },
    { title: "failed in a row", isNumber: true },
    { title: "open rejects", isNumber: true },
    { title: "last error" },
  ];
  const rows: Part[][] = failing.map((row) => [
    libraryName(row),
    timeAgo(row.lastReadAt, now),
    formatCount(row.failures),
    formatCount(row.openRejects),
    row.lastError === null ? "" : foreignText(row.lastError, 160),
  ]);
  const left = first.total - failing.length;
  return html`${htmlTable(columns, rows)}${left > 0 ? note(`… and ${formatCount(left)} more; see the view simcat_report.library_freshness.`) : null}`;
}
