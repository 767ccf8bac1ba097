import type { ReportRows } from "../../db/read/read-report.ts";
import { plural } from "../../format.ts";
import { failingList } from "../html/failing-list.ts";
import { html } from "../html/html.ts";
import { formatBadge } from "../html/status-badge.ts";
import { timeOf } from "../html/times.ts";
import { attentionItems } from "./attention-items.ts";
import type { Section } from "./section.ts";

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
