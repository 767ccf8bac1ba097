import { sum } from "d3-array";
import type { ReportRows } from "../../db/read/read-report.ts";
import { formatAgo, formatBytes, formatCount, formatSpan, plural } from "../../format.ts";
import { card, foreignText } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatPage } from "../html/page.ts";
import { formatDay, formatMinute, timeOf, zonedTime } from "../html/times.ts";
import { activeSection } from "./active-section.ts";
import { agesSection } from "./ages-section.ts";
import { attentionSection } from "./attention-section.ts";
import { changesSection } from "./changes-section.ts";
import { emptySection } from "./empty-section.ts";
import { growthSection } from "./growth-section.ts";
import { parentsSection } from "./parents-section.ts";
import { runsSection } from "./runs-section.ts";
import { formatSection, type Section } from "./section.ts";
import { storageSection } from "./storage-section.ts";
import { versionsSection } from "./versions-section.ts";

interface ReportPage {
  readonly page: string;
  /** The headings of the sections, by section id. */
  readonly findings: Readonly<Record<string, string>>;
}

interface ReportSource {
  readonly version: string;
  /** The host of the service; null if it is not configured. */
  readonly serviceHost: string | null;
}

const SECTIONS = [
  emptySection,
  attentionSection,
  changesSection,
  growthSection,
  activeSection,
  agesSection,
  storageSection,
  versionsSection,
  parentsSection,
  runsSection,
];

/** The report as one self-contained HTML file, and its findings. */
export function formatReport(rows: ReportRows, { version, serviceHost }: ReportSource): ReportPage {
  const sections = SECTIONS.map((section) => section(rows)).filter((section): section is Section => section !== null);
  const source = serviceHost === null ? "Organization" : `Organization at ${serviceHost}`;
  const body = html`${formatHead(rows, source)}
<main class="sections">
${sections.map(formatSection)}</main>
<footer><p>simcat ${version}, from the views of the schema simcat_report. Times are UTC, by the database's clock. 1 KB is 1,024 bytes, as the service counts. Removed items are counted only among the changes.</p></footer>`;
  return {
    page: formatPage({ title: `${source}, database ${rows.database}: simcat report of ${formatDay(rows.now)}`, body }),
    findings: Object.fromEntries(sections.map(({ id, finding }) => [id, finding])),
  };
}

function formatHead({ database, now, since, owners, complete, libraries, parents }: ReportRows, source: string): Html {
  const scenarios = sum(parents, (row) => row.scenarios);
  const parentCount = sum(parents, (row) => row.parents);
  const scope: Part =
    owners.length === 0
      ? null
      : html`<p>Filtered to ${owners.length === 1 ? "owner" : "owners"} ${owners.map((owner, index) => [index === 0 ? "" : ", ", foreignText(owner)])} (runs are not filtered).</p>`;
  const { completeAsOf } = complete;
  return html`<header><h1>${source}, database ${foreignText(database)}</h1>
<p class="soft">simcat report of ${zonedTime(now)}; changes in the last ${formatSpan(now.getTime() - since.getTime())}, since ${formatMinute(since)}.</p>
${scope}
<dl class="cards">
${card("complete as of (UTC)", completeAsOf === null ? "not yet" : timeOf(completeAsOf), completeAsOf && formatAgo(completeAsOf, now).replace("ago", "before this report"))}
${card("libraries", formatCount(libraries.libraries), libraries.libraries === 0 ? null : `of ${plural(libraries.owners, "owner")}`)}
${card("scenarios", formatCount(scenarios), `${plural(parentCount, "parent")}, ${plural(scenarios - parentCount, "result")}`)}
${card("stored", formatBytes(libraries.bytes), libraries.sizesUnread === 0 ? null : `without ${plural(libraries.sizesUnread, "library", "libraries")} of unknown size`)}
</dl></header>`;
}
