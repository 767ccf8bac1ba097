import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { formatAgo, formatCount, formatElapsed } from "../format.ts";
import { card, errorText, foreignText } from "./html/elements.ts";
import { type Html, html } from "./html/html.ts";
import { formatPage } from "./html/page.ts";
import { runsFigure, unsuccessfulRuns } from "./html/runs-figure.ts";
import { formatBadge, type StatusBadge } from "./html/status-badge.ts";
import { timeAndAge, timeOf, zonedTime } from "./html/times.ts";
import { durationOf, failingSection, rejectsSection, runsSection } from "./status-sections.ts";

/** The content of the worker's page. */
export interface StatusPage {
  readonly version: string;
  /** The time zone of the schedule. */
  readonly timezone: string;
  readonly serviceHost: string;
  /** By the local clock, like `nextRun`. */
  readonly now: Date;
  readonly ready: boolean;
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
  readonly nextRun: Date;
  readonly currentRun: CurrentRun | null;
  /** By reason. */
  readonly missedTicks: Readonly<Record<"running" | "database" | "asleep", number>>;
  /** As last read from the database; null before the first read. `status.now` is the present by the database's clock. */
  readonly rows: {
    readonly database: string;
    readonly status: StatusRows;
    readonly runs: readonly RunRow[];
  } | null;
  /** The age of the rows if the last read failed; null if they are up to date. */
  readonly outdatedMs: number | null;
}

interface CurrentRun {
  readonly id: number | null;
  readonly startedAt: Date;
  readonly toRead: number | null;
  readonly done: number;
}

const REFRESH_SECONDS = 60;

/** The worker's page for people. */
export function formatStatusPage(page: StatusPage): string {
  const { ready, reasons, rows, version, serviceHost } = page;
  const badge = overallBadge(page);
  const body = html`<header class="lead"><h1>simcat: organization at ${serviceHost}${rows && html`, database ${foreignText(rows.database)}`}</h1> <span class="state">${formatBadge(badge)}</span></header>
${reasons.length === 0 ? null : formatReasons(reasons, ready)}
${page.outdatedMs !== null && rows !== null ? html`<p class="note">The database did not answer. These figures are from ${formatElapsed(page.outdatedMs)} ago.</p>` : null}
${formatCards(page)}
${rows === null ? null : formatRows(rows)}
<footer><p>simcat ${version}. Times without a zone are UTC. This page reloads every ${REFRESH_SECONDS} seconds. For machines: <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>, <a href="/healthz">/healthz</a>.</p></footer>`;
  return formatPage({
    title: `simcat: ${badge.label}: ${serviceHost}${rows === null ? "" : `, database ${rows.database}`}`,
    body,
    refreshSeconds: REFRESH_SECONDS,
  });
}

function overallBadge({ ready, reasons }: StatusPage): StatusBadge {
  if (!ready) return { variant: "failed", label: "not ready" };
  return reasons.length === 0
    ? { variant: "ok", label: "up to date" }
    : { variant: "partial", label: "up to date, with a problem" };
}

function formatReasons(reasons: StatusPage["reasons"], ready: boolean): Html {
  const items = reasons.map(
    ({ code, message }) => html`<li><b>${code.replaceAll("_", " ")}</b>: ${errorText(message)}</li>`,
  );
  return html`<div class="note${ready ? "" : " failed"}" role="status"><ul>${items}</ul></div>`;
}

function formatCards({ rows, nextRun, now, timezone, currentRun, missedTicks }: StatusPage): Html {
  const cards = [
    card("next run", zonedTime(nextRun, timezone), formatAgo(nextRun, now)),
    ...(currentRun === null ? [] : [currentRunCard(currentRun, now)]),
    ...(rows === null ? [] : copyCards(rows.status)),
    ...missedTickCards(missedTicks),
  ];
  return html`<dl class="cards">${cards}</dl>`;
}

function copyCards({ now, lastGoodRun, libraries, scenarios, failing, rejects }: StatusRows): Html[] {
  const { oldestContentReadAt, removed, live } = libraries;
  const ended = lastGoodRun === null ? null : (lastGoodRun.finishedAt ?? lastGoodRun.startedAt);
  return [
    card(
      "last good run",
      timeOf(ended),
      lastGoodRun && html`${formatAgo(ended ?? now, now)}, run ${lastGoodRun.id}, ${lastGoodRun.status}`,
    ),
    card("libraries", formatCount(live), `${formatCount(removed)} removed`),
    card("scenarios", formatCount(scenarios), null),
    card("oldest read", timeOf(oldestContentReadAt), oldestContentReadAt && formatAgo(oldestContentReadAt, now)),
    card("failing libraries", formatCount(failing.total), null),
    card("open rejects", formatCount(rejects.total), null),
  ];
}

const MISS_REASONS: Readonly<Record<keyof StatusPage["missedTicks"], string>> = {
  running: "during a run",
  database: "database unreachable",
  asleep: "asleep",
};

function missedTickCards(missedTicks: StatusPage["missedTicks"]): Html[] {
  const reasons = (["running", "database", "asleep"] as const).filter((reason) => missedTicks[reason] > 0);
  if (reasons.length === 0) return [];
  const total = reasons.reduce((sum, reason) => sum + missedTicks[reason], 0);
  const why = reasons.map((reason) => `${formatCount(missedTicks[reason])} ${MISS_REASONS[reason]}`).join(", ");
  return [card("missed ticks", formatCount(total), why)];
}

function currentRunCard({ id, startedAt, toRead, done }: CurrentRun, now: Date): Html {
  // A run has no id before it holds the lease.
  if (id === null) return card("current run", "waiting", html`due ${timeAndAge(startedAt, now)}`);
  const progress = toRead === null ? "listing" : `${formatCount(done)} of ${formatCount(toRead)}`;
  return card("current run", progress, html`run ${id}, started ${timeAndAge(startedAt, now)}`);
}

function formatRows({ status, runs }: NonNullable<StatusPage["rows"]>): Html {
  if (runs.length === 0) return html`<p>No run yet. The first one fills the database.</p>`;
  const { now } = status;
  const drawn = runs.toReversed().map((run) => ({ ...run, durationMs: durationOf(run, now) }));
  return html`<main class="sections">
<section class="wide"><h2>Last runs</h2>
<div class="panels">${runsFigure(drawn)}<div>${unsuccessfulRuns(drawn)}</div></div>
${runsSection(runs, now)}</section>
${failingSection(status)}
${rejectsSection(status)}</main>`;
}
