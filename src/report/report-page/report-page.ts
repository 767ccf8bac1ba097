import type { Connection, Pool } from "../../db/connect.ts";
import { readSnapshot } from "../../db/transaction.ts";
import { formatAgo, formatBytes, formatCount, formatLast, formatLibraries, plural } from "../../format.ts";
import { card, foreignText, formatDay, formatMinute, timeOf } from "../html/elements.ts";
import { type Html, html, type Part } from "../html/html.ts";
import { formatPage } from "../html/page.ts";
import { attentionSection } from "./attention-section.ts";
import { parentsSection, storageSection, versionsSection } from "./bar-sections.ts";
import { changesSection } from "./changes-section.ts";
import { type ReportScope, readFacts } from "./facts.ts";
import { growthSection, recentGrowth } from "./growth-section.ts";
import { runsSection } from "./runs-section.ts";
import { activeSection, agesSection } from "./work-sections.ts";

/** In their order on the page. */
const SECTIONS = [
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

/** The facts, and the rows of all sections. */
export type ReportRows = (typeof SECTIONS)[number]["finding"] extends (rows: infer All) => unknown ? All : never;

/** Reads the contents of the page: views of simcat_report, from one snapshot. */
export async function readReport(pool: Pool, scope: ReportScope, signal: AbortSignal): Promise<ReportRows> {
  const read = async (connection: Connection) => {
    const { facts, query } = await readFacts(connection, scope);
    const rows: Record<string, readonly object[]> = {};
    for (const [name, sql] of SECTIONS.flatMap(({ queries }) => Object.entries(queries)))
      rows[name] = (await query(sql)).rows;
    return { ...facts, ...rows } as ReportRows;
  };
  return readSnapshot(pool, "reading the report", read, signal);
}

/**
 * The report as one self-contained HTML file, and the headings of its sections by id.
 * @param host that of the service; null if it is not configured
 * @param title replaces the heading that names the service and the database
 */
export function formatReport(rows: ReportRows, version: string, host: string | null, title: string | null = null) {
  const findings: Record<string, string> = {};
  const sections = SECTIONS.map(({ id, isWide = false, finding: formatFinding, figure }) => {
    const finding = formatFinding(rows);
    if (finding === null) return null;
    findings[id] = finding;
    return html`<section id="${id}"${isWide ? html` class="wide"` : null}><h2>${finding.replaceAll(" %", "\u00a0%")}</h2>
${figure(rows, finding)}
</section>
`;
  });
  const source = host === null ? "Organization" : `Organization at ${host}`;
  const { database } = rows.complete;
  const heading = title === null ? html`${source}, database ${foreignText(database)}` : foreignText(title);
  const links = Object.keys(findings).map((id, index) => [index === 0 ? "" : " · ", html`<a href="#${id}">${id}</a>`]);
  const body = html`${formatHead(rows, heading)}
<nav class="soft">${links}</nav>
<main class="sections">
${sections}</main>
<footer><p>simcat ${version}, from the views of the schema simcat_report. Times are UTC, by the database's clock. 1 KB is 1,024 bytes, as the service counts. Removed items are counted only among the changes.</p></footer>`;
  const name = title ?? `${source}, database ${database}`;
  return { page: formatPage(`${name}: simcat report of ${formatDay(rows.now)}`, body), findings };
}

function formatHead(rows: ReportRows, heading: Part): Html {
  const { now, since, owners, complete, libraries } = rows;
  const growth = recentGrowth(rows);
  const names = owners.map((owner, index): Part => [index === 0 ? "" : ", ", foreignText(owner)]);
  const { completeAsOf } = complete;
  return html`<header><h1>${heading}</h1>
<p class="soft">simcat report of ${timeOf(now)} UTC; changes in the ${formatLast(now.getTime() - since.getTime())}, since ${formatMinute(since)}.</p>
${owners.length === 0 ? null : html`<p>Filtered to ${owners.length === 1 ? "owner" : "owners"} ${names} (the runs, and how complete the copy is, are those of all owners).</p>`}
<dl class="cards">
${card("complete as of (UTC)", completeAsOf === null ? "not known" : timeOf(completeAsOf), completeAsOf && formatAgo(completeAsOf, now).replace("ago", "before this report"))}
${card("libraries", formatCount(libraries.libraries), libraries.libraries === 0 ? null : `of ${plural(libraries.owners, "owner")}`, growth.libraries)}
${card("scenarios", formatCount(libraries.parents + libraries.results), `${plural(libraries.parents, "parent")}, ${plural(libraries.results, "result")}`, growth.scenarios)}
${card("stored", formatBytes(libraries.bytes), libraries.sizesUnread === 0 ? null : `without ${formatLibraries(libraries.sizesUnread)} of unknown size`, growth.bytes)}
</dl></header>`;
}
