import type { StatusRows } from "../db/read/read-status.ts";
import type { RunRow } from "../db/read/recent-runs.ts";
import { formatCount, formatElapsed } from "./amounts.ts";
import { type Html, html } from "./html/html.ts";
import { formatOutcome, type Outcome } from "./html/outcome.ts";
import { formatPage } from "./html/page.ts";
import { runChart } from "./html/run-chart.ts";
import { foreign } from "./html/text.ts";
import { ago, localMoment } from "./html/when.ts";
import { formatAgo } from "./moments.ts";
import { failingSection, rejectsSection, runsSection } from "./status-sections.ts";

/** What the worker's page tells. */
export interface StatusPage {
  readonly version: string;
  /** In which due moments are told. */
  readonly timezone: string;
  /** By the local clock, as `nextRun` is. */
  readonly now: Date;
  readonly ready: boolean;
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
  readonly nextRun: Date;
  readonly currentRun: CurrentRun | null;
  /** By reason. */
  readonly missedTicks: Readonly<Record<"running" | "database" | "asleep", number>>;
  /** As last read from the database, `now` being this moment by its clock; null before the first time. */
  readonly rows: { readonly status: StatusRows; readonly runs: readonly RunRow[] } | null;
  /** How old they are, where they could not be read just now; null where they are fresh. */
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
  const { ready, reasons, rows, version } = page;
  const state = stateOf(page);
  const body = html`<header class="lead"><h1>simcat</h1> <span class="state">${formatOutcome(state)}</span></header>
${reasons.length === 0 ? null : formatReasons(reasons, ready)}
${page.outdatedMs !== null && rows !== null ? html`<p class="note">The figures were read ${formatElapsed(page.outdatedMs)} ago; the database cannot be asked just now.</p>` : null}
${formatCards(page)}
${rows === null ? null : formatRows(rows)}
<footer><p>simcat ${version}. This page asks anew every ${REFRESH_SECONDS} seconds. For machines: <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>, <a href="/healthz">/healthz</a>.</p></footer>`;
  return formatPage({ title: `simcat: ${state.words}`, body, refreshSeconds: REFRESH_SECONDS });
}

function stateOf({ ready, reasons }: StatusPage): Outcome {
  if (!ready) return { tone: "failed", words: "not fresh" };
  return reasons.length === 0 ? { tone: "ok", words: "fresh" } : { tone: "partial", words: "fresh, but look at this" };
}

function formatReasons(reasons: StatusPage["reasons"], ready: boolean): Html {
  const items = reasons.map(
    ({ code, message }) => html`<li><b>${code.replaceAll("_", " ")}</b>: ${foreign(message, 600)}</li>`,
  );
  return html`<div class="note${ready ? "" : " failed"}" role="status"><ul>${items}</ul></div>`;
}

function formatCards({ rows, nextRun, now, timezone, currentRun, missedTicks }: StatusPage): Html {
  const cards = [
    card("next run", formatAgo(nextRun, now), localMoment(nextRun, timezone)),
    ...(currentRun === null ? [] : [workCard(currentRun, now)]),
    ...(rows === null ? [] : factCards(rows.status)),
    ...missedCards(missedTicks),
  ];
  return html`<dl class="cards">${cards}</dl>`;
}

function factCards({ now, lastGoodRun, libraries, scenarios, failing, rejects }: StatusRows): Html[] {
  const { oldestContentReadAt, removed, live } = libraries;
  const ended = lastGoodRun === null ? null : (lastGoodRun.finishedAt ?? lastGoodRun.startedAt);
  return [
    card("last good run", ago(ended, now), lastGoodRun && html`run ${lastGoodRun.id}, ${lastGoodRun.status}`),
    card("libraries", formatCount(live), html`${formatCount(removed)} removed`),
    card("scenarios", formatCount(scenarios), null),
    card("oldest read", ago(oldestContentReadAt, now), null),
    card("failing", formatCount(failing.total), null),
    card("open rejects", formatCount(rejects.total), null),
  ];
}

const MISSED: Readonly<Record<keyof StatusPage["missedTicks"], string>> = {
  running: "during a run",
  database: "without the database",
  asleep: "asleep",
};

function missedCards(missedTicks: StatusPage["missedTicks"]): Html[] {
  const reasons = (["running", "database", "asleep"] as const).filter((reason) => missedTicks[reason] > 0);
  if (reasons.length === 0) return [];
  const total = reasons.reduce((sum, reason) => sum + missedTicks[reason], 0);
  const why = reasons.map((reason) => `${formatCount(missedTicks[reason])} ${MISSED[reason]}`).join(", ");
  return [card("missed ticks", formatCount(total), html`${why}`)];
}

function card(title: string, value: string | Html, more: Html | null): Html {
  return html`<div><dt>${title}</dt><dd>${value}${more === null ? null : html`<small>${more}</small>`}</dd></div>\n`;
}

function workCard({ id, startedAt, toRead, done }: CurrentRun, now: Date): Html {
  // It has no number before the database has given it the lease.
  if (id === null) return card("about to begin", "waiting", html`due ${ago(startedAt, now)}`);
  const progress = toRead === null ? "listing" : `${formatCount(done)} of ${formatCount(toRead)}`;
  return card("at work", progress, html`run ${id}, begun ${ago(startedAt, now)}`);
}

function formatRows({ status, runs }: NonNullable<StatusPage["rows"]>): Html {
  if (runs.length === 0) return html`<p>No run yet: the first one fills the database.</p>`;
  const { now } = status;
  const bars = runs.toReversed().map((run) => ({
    label: `run ${run.id}, ${formatAgo(run.startedAt, now)}`,
    status: run.status,
    durationMs: (run.finishedAt ?? now).getTime() - run.startedAt.getTime(),
  }));
  return html`<h2>Last runs</h2>
${runChart(bars)}
${runsSection(runs, now)}
${failingSection(status)}
${rejectsSection(status)}`;
}
