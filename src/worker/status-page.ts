import type { RunRow } from "../db/read/recent-runs.ts";
import { formatAgo, formatCount, plural } from "../format.ts";
import { DIED, formatKind } from "../output/status.ts";
import { badgeOf, formatBadge, type StatusBadge } from "../report/html/badges.ts";
import { card, errorText, failingList, foreignText, htmlTable, timeOf } from "../report/html/elements.ts";
import { type Html, html } from "../report/html/html.ts";
import { formatPage } from "../report/html/page.ts";
import { formatRunDuration, runsFigure, unsuccessfulRuns } from "../report/html/runs-figure.ts";
import { type Basics, type CopyFigures, MAX_WORKER_RUNS } from "./copy-reads.ts";
import type { WorkerStatus } from "./worker-status.ts";

/** The service, and the time zone of the schedule. */
type PageSettings = { readonly baseUrl: URL; readonly timezone: string };

const REFRESH_SECONDS = 60;

/** The worker's page for people. */
export function formatStatusPage(status: WorkerStatus, { timezone, baseUrl: { host } }: PageSettings, version: string) {
  const { ready, reasons, basics, figures } = status;
  const badge = overallBadge(status);
  const database = figures?.database ?? null;
  const items = reasons.map(({ code, message }) => {
    return html`<li><b>${code.replaceAll("_", " ")}</b>: ${errorText(message)}</li>`;
  });
  const note = html`<div class="note${ready ? "" : " failed"}" role="status"><ul>${items}</ul></div>`;
  const body = html`<header class="lead"><h1>simcat: organization at ${host}${database && html`, database ${foreignText(database)}`}</h1> <span class="state">${formatBadge(badge)}</span></header>
${reasons.length === 0 ? null : note}
<dl class="cards">${formatCards(status, timezone)}</dl>
${basics && formatSections(basics, figures)}
<footer><p>simcat ${version}. Times without a zone are UTC. This page reloads every ${REFRESH_SECONDS} seconds. For machines: <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>, <a href="/healthz">/healthz</a>.</p></footer>`;
  const title = `simcat: ${badge.label}: ${host}${database === null ? "" : `, database ${database}`}`;
  return formatPage(title, body, REFRESH_SECONDS);
}

/** The time and the time since. */
const timeAndAge = (at: Date | null, now: Date) =>
  html`${timeOf(at)}${at && html` <small class="nowrap">${formatAgo(at, now)}</small>`}`;

const MINUTE = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" } as const;

function overallBadge({ ready, reasons }: WorkerStatus): StatusBadge {
  if (!ready) return { variant: "failed", label: "not ready" };
  if (reasons.length === 0) return { variant: "ok", label: "up to date" };
  return { variant: "partial", label: reasons.length === 1 ? "ready, with a problem" : "ready, with problems" };
}

function formatCards({ nextRun, now, current, basics, figures }: WorkerStatus, timezone: string): Html[] {
  // `20 Nov 2026, 14:15 CET`.
  const due = nextRun.toLocaleString("en-GB", { ...MINUTE, timeZone: timezone, timeZoneName: "short" });
  const time = html`<time datetime="${nextRun.toISOString()}">${due}</time>`;
  const cards = [card("next run", time, formatAgo(nextRun, now))];
  if (current !== null) {
    const { id, startedAt, toRead, done } = current;
    const progress = toRead === null ? "listing" : `${formatCount(done)} of ${formatCount(toRead)}`;
    // A run has no id before it holds the lease.
    const [value, title] = id === null ? ["waiting", "due"] : [progress, `run ${id}, started`];
    cards.push(card("current run", value, html`${title} ${timeAndAge(startedAt, now)}`));
  }
  if (basics === null) return cards;
  const aged = (title: string, at: Date | null, detail = "", none = "never") =>
    card(title, at === null ? none : timeOf(at), at && `${formatAgo(at, basics.now())}${detail}`);
  const last = basics.lastGoodRun;
  if (last !== undefined)
    cards.push(aged("last good run", last?.finishedAt ?? null, last ? `, end of run ${last.id}, ${last.status}` : ""));
  if (figures === null) return cards;
  const { libraries, scenarios, failing, rejects, completeAsOf } = figures;
  return [
    ...cards,
    aged("complete as of", completeAsOf, "", "not known"),
    card("libraries", formatCount(libraries.live), `${formatCount(libraries.removed)} removed`),
    card("scenarios", formatCount(scenarios)),
    aged("oldest read", libraries.oldestContentReadAt, "", libraries.live === 0 ? "none" : "never"),
    card("failing libraries", formatCount(failing.total)),
    card("open rejects", formatCount(rejects.total)),
  ];
}

function formatSections(basics: Basics, figures: CopyFigures | null): Html | null {
  const { lastGoodRun, runs } = basics;
  const now = basics.now();
  if (lastGoodRun === undefined) return null;
  if (runs.length === 0) return html`<p>No run yet. The first one fills the database.</p>`;
  // A dead run is shown as the next run will mark it.
  const known = runs.map((run): RunRow => (run.isDead ? { ...run, status: "abandoned", error: DIED } : run));
  const drawn = known.slice(0, MAX_WORKER_RUNS).toReversed();
  const table = htmlTable(known.slice(0, 10), [
    ["run", (run) => html`<span class="nowrap">${run.id} <small>${formatKind(run)}</small></span>`],
    ["status", ({ status }) => formatBadge(badgeOf(status))],
    ["started (UTC)", ({ startedAt }) => timeAndAge(startedAt, now)],
    ["took", formatRunDuration, "number"],
    ["read", ({ read }) => read, "number"],
    ["changed", ({ changed }) => changed, "number"],
    ["failed", ({ failed }) => failed, "number"],
  ]);
  const failing = figures?.failing ?? { total: 0, shown: [] };
  const failingSection = html`<section class="wide"><h2>${plural(failing.total, "library fails", "libraries fail")}</h2>
${failingList(failing.shown, failing.total, "; see simcat status", (at) => timeAndAge(at, now))}</section>`;
  return html`<main class="sections">
<section class="wide"><h2>Last runs</h2>
<div class="panels">${runsFigure(drawn)}<div>${unsuccessfulRuns(drawn)}</div></div>
${table}</section>
${failing.total === 0 ? null : failingSection}</main>`;
}
