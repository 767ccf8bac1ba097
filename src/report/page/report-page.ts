import type { ReportRows } from "../../db/read/read-report.ts";
import { formatBytes, formatCount, plural } from "../amounts.ts";
import type { Draw } from "../charts/open-charts.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatPage } from "../html/page.ts";
import { foreign } from "../html/text.ts";
import { ago, localMoment } from "../html/when.ts";
import { activitySection } from "./activity.ts";
import { agesSection } from "./ages.ts";
import { attentionSection } from "./attention.ts";
import { changesSection } from "./changes.ts";
import { parentsSection } from "./parents.ts";
import { REPORT_STYLE } from "./report-style.ts";
import { runsSection } from "./runs.ts";
import { formatSection, inWords, type Section } from "./section.ts";
import { storageSection } from "./storage.ts";
import { versionsSection } from "./versions.ts";

export interface ReportPage {
  readonly page: string;
  /** By the ids of the page's sections. */
  readonly findings: Readonly<Record<string, string>>;
}

/** The whole page, a file that a browser opens from anywhere, for years; and what it finds. */
export function formatReport(rows: ReportRows, version: string, draw: Draw): ReportPage {
  const sections = [
    attentionSection(rows),
    changesSection(rows, draw),
    activitySection(rows, draw),
    agesSection(rows, draw),
    storageSection(rows, draw),
    versionsSection(rows, draw),
    parentsSection(rows, draw),
    runsSection(rows),
  ].filter((section): section is Section => section !== null);
  const body = html`${formatHead(rows)}
${sections.map(formatSection)}
<footer><p>simcat ${version}, from the views of the schema simcat_report, ${localMoment(rows.now, "UTC")}. Moments are by the database's clock, in UTC; a removed library or scenario counts nowhere but under what changed.</p></footer>`;
  return {
    page: formatPage({ title: "simcat report", body, style: REPORT_STYLE }),
    findings: Object.fromEntries(sections.map(({ id, finding }) => [id, finding])),
  };
}

function formatHead({ now, since, owners, complete, libraries, parents }: ReportRows): Html {
  const scenarios = parents.reduce((total, row) => total + row.scenarios, 0);
  const all = parents.reduce((total, row) => total + row.parents, 0);
  const scope: Part =
    owners.length === 0
      ? null
      : html`<p>Of ${owners.map((owner, at) => [at === 0 ? "" : ", ", foreign(owner)])} alone, but for the runs.</p>`;
  return html`<header><h1>simcat report</h1>
<p class="soft">${localMoment(now, "UTC")}; what changed is told of the last ${inWords(now.getTime() - since.getTime())}.</p>
${scope}
<dl class="cards">
${card("complete as of", complete.completeAsOf === null ? "not yet" : ago(complete.completeAsOf, now), complete.completeAsOf && localMoment(complete.completeAsOf, "UTC"))}
${card("libraries", formatCount(libraries.libraries), `of ${plural(libraries.owners, "owner")}`)}
${card("scenarios", formatCount(scenarios), `${plural(all, "parent")}, ${plural(scenarios - all, "result")}`)}
${card("stored", formatBytes(libraries.bytes), libraries.sizesUnread === 0 ? null : `${plural(libraries.sizesUnread, "size")} unread`)}
</dl></header>`;
}

function card(title: string, value: Part, more: Part): Html {
  return html`<div><dt>${title}</dt><dd>${value}${more === null ? null : html`<small>${more}</small>`}</dd></div>`;
}
