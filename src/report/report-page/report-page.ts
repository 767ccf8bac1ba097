import type { ReportRows } from "../../db/read/read-report.ts";
import { formatBytes, formatCount, formatSpan, plural } from "../../format.ts";
import type { DrawChart } from "../charts/chart-renderer.ts";
import { CHART_STYLE } from "../charts/palette.ts";
import { card, foreignText, localTime, timeAgo } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatPage, STYLE } from "../html/page.ts";
import { activitySection } from "./activity-section.ts";
import { agesSection } from "./ages-section.ts";
import { attentionSection } from "./attention-section.ts";
import { changesSection } from "./changes-section.ts";
import { parentsSection } from "./parents-section.ts";
import { runsSection } from "./runs-section.ts";
import { formatSection, type Section } from "./section.ts";
import { storageSection } from "./storage-section.ts";
import { versionsSection } from "./versions-section.ts";

const REPORT_STYLE = `${STYLE}${CHART_STYLE}
section { margin-top: 2.5rem } section h2 { margin: 0 0 .3rem; font-size: 1.15rem; line-height: 1.35 }
details { margin-top: .5rem } summary { cursor: pointer; color: var(--soft); font-size: .875rem } section table { max-width: 60rem }
.attention { margin: .4rem 0; padding: 0; list-style: none } .attention li { padding: .3rem 0; border-bottom: 1px solid var(--line) }
.attention .nowrap { white-space: normal } .attention small { display: block; padding-left: 1.1rem }
@media print { section { margin-top: 1.4rem } h2 { break-after: avoid } .chart, .runs { break-inside: avoid } summary { display: none } }
`;

interface ReportPage {
  readonly page: string;
  /** The headings of the sections, by section id. */
  readonly findings: Readonly<Record<string, string>>;
}

/** The report as one self-contained HTML file, and its findings. */
export function formatReport(rows: ReportRows, version: string, draw: DrawChart): ReportPage {
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
<footer><p>simcat ${version}, from the views of the schema simcat_report, ${localTime(rows.now, "UTC")}. Times are by the database's clock, in UTC. Removed items are counted only among the changes.</p></footer>`;
  return {
    page: formatPage({ title: "simcat report", body, style: REPORT_STYLE }),
    findings: Object.fromEntries(sections.map(({ id, finding }) => [id, finding])),
  };
}

function formatHead({ now, since, owners, complete, libraries, parents }: ReportRows): Html {
  const scenarios = parents.reduce((total, row) => total + row.scenarios, 0);
  const parentCount = parents.reduce((total, row) => total + row.parents, 0);
  const scope: Part =
    owners.length === 0
      ? null
      : html`<p>Filtered to ${owners.length === 1 ? "owner" : "owners"} ${owners.map((owner, index) => [index === 0 ? "" : ", ", foreignText(owner)])} (runs are not filtered).</p>`;
  return html`<header><h1>simcat report</h1>
<p class="soft">${localTime(now, "UTC")}; changes in the last ${formatSpan(now.getTime() - since.getTime())}.</p>
${scope}
<dl class="cards">
${card("complete as of", complete.completeAsOf === null ? "not yet" : timeAgo(complete.completeAsOf, now), complete.completeAsOf && localTime(complete.completeAsOf, "UTC"))}
${card("libraries", formatCount(libraries.libraries), `of ${plural(libraries.owners, "owner")}`)}
${card("scenarios", formatCount(scenarios), `${plural(parentCount, "parent")}, ${plural(scenarios - parentCount, "result")}`)}
${card("stored", formatBytes(libraries.bytes), libraries.sizesUnread === 0 ? null : `${plural(libraries.sizesUnread, "size")} not parsed`)}
</dl></header>`;
}
