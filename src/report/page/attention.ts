import type { ReportRows } from "../../db/read/read-report.ts";
import { formatCount, plural } from "../amounts.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatOutcome } from "../html/outcome.ts";
import { htmlTable } from "../html/table.ts";
import { foreign, libraryName } from "../html/text.ts";
import { ago } from "../html/when.ts";
import { concernsOf } from "./concerns.ts";
import { remark, type Section } from "./section.ts";

/** What somebody should look at. */
export function attentionSection(rows: ReportRows): Section {
  const concerns = concernsOf(rows);
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
