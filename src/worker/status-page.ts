import type { RunRow } from "../db/read/recent-runs.ts";
import { formatAgo, formatCount, formatElapsed, plural } from "../format.ts";
import { formatKind } from "../output/status.ts";
import {
  badgeOf,
  card,
  column,
  errorText,
  failingList,
  foreignText,
  formatBadge,
  htmlTable,
  libraryName,
  numbers,
  type StatusBadge,
  timeAndAge,
  timeOf,
  zonedTime,
} from "../report/html/elements.ts";
import { type Html, html } from "../report/html/html.ts";
import { formatPage } from "../report/html/page.ts";
import { runsFigure, unsuccessfulRuns } from "../report/html/runs-figure.ts";
import type { CopyFigures } from "./copy-reads.ts";
import { MISS_REASONS, type MissReason, type WorkerStatus } from "./worker-status.ts";

/** The identity of the worker. */
interface PageTitle {
  readonly version: string;
  /** The time zone of the schedule. */
  readonly timezone: string;
  readonly serviceHost: string;
}

const REFRESH_SECONDS = 60;

/** The worker's page for people. */
export function formatStatusPage(status: WorkerStatus, { version, timezone, serviceHost }: PageTitle): string {
  const { ready, reasons, silentMs, databaseNow, figures } = status;
  const badge = overallBadge(status);
  const database = figures?.database ?? null;
  const body = html`<header class="lead"><h1>simcat: organization at ${serviceHost}${database && html`, database ${foreignText(database)}`}</h1> <span class="state">${formatBadge(badge)}</span></header>
${reasons.length === 0 ? null : formatReasons(reasons, ready)}
${silentMs === null ? null : html`<p class="note">The database did not answer. These figures are from ${formatElapsed(silentMs)} ago.</p>`}
<dl class="cards">${formatCards(status, timezone)}</dl>
${databaseNow === null ? null : formatSections(status, databaseNow)}
<footer><p>simcat ${version}. Times without a zone are UTC. This page reloads every ${REFRESH_SECONDS} seconds. For machines: <a href="/readyz">/readyz</a>, <a href="/metrics">/metrics</a>, <a href="/healthz">/healthz</a>.</p></footer>`;
  const title = `simcat: ${badge.label}: ${serviceHost}${database === null ? "" : `, database ${database}`}`;
  return formatPage({ title, body, refreshSeconds: REFRESH_SECONDS });
}

function overallBadge({ ready, reasons }: WorkerStatus): StatusBadge {
  if (!ready) return { variant: "failed", label: "not ready" };
  if (reasons.length === 0) return { variant: "ok", label: "up to date" };
  return { variant: "partial", label: reasons.length === 1 ? "ready, with a problem" : "ready, with problems" };
}

function formatReasons(reasons: WorkerStatus["reasons"], ready: boolean): Html {
  const items = reasons.map(
    ({ code, message }) => html`<li><b>${code.replaceAll("_", " ")}</b>: ${errorText(message)}</li>`,
  );
  return html`<div class="note${ready ? "" : " failed"}" role="status"><ul>${items}</ul></div>`;
}

function formatCards(status: WorkerStatus, timezone: string): Html[] {
  const { nextRun, now, current, lastGoodRun, databaseNow, figures, missedTicks } = status;
  const cards = [card("next run", zonedTime(nextRun, timezone), formatAgo(nextRun, now))];
  if (current !== null) cards.push(currentRunCard(current, now));
  if (databaseNow !== null) {
    const ended = lastGoodRun === null ? null : (lastGoodRun.finishedAt ?? lastGoodRun.startedAt);
    const detail =
      lastGoodRun && html`${formatAgo(ended ?? now, databaseNow)}, run ${lastGoodRun.id}, ${lastGoodRun.status}`;
    cards.push(card("last good run", timeOf(ended), detail));
    if (figures !== null) cards.push(...figureCards(figures, databaseNow));
  }
  const missed = (Object.keys(MISS_REASONS) as MissReason[]).filter((reason) => missedTicks[reason] > 0);
  if (missed.length > 0) {
    const total = missed.reduce((sum, reason) => sum + missedTicks[reason], 0);
    const why = missed.map((reason) => `${formatCount(missedTicks[reason])} ${MISS_REASONS[reason]}`).join(", ");
    cards.push(card("missed ticks", formatCount(total), why));
  }
  return cards;
}

function figureCards({ libraries, scenarios, failing, rejects, reported }: CopyFigures, now: Date): Html[] {
  const { live, removed, oldestContentReadAt } = libraries;
  const aged = (title: string, at: Date | null) => card(title, timeOf(at), at && formatAgo(at, now));
  return [
    ...(reported === null ? [] : [aged("complete as of", reported.completeAsOf)]),
    card("libraries", formatCount(live), `${formatCount(removed)} removed`),
    card("scenarios", formatCount(scenarios), null),
    aged("oldest read", oldestContentReadAt),
    card("failing libraries", formatCount(failing.total), null),
    card("open rejects", formatCount(rejects.total), null),
  ];
}

function currentRunCard({ id, startedAt, toRead, done }: NonNullable<WorkerStatus["current"]>, now: Date): Html {
  // A run has no id before it holds the lease.
  if (id === null) return card("current run", "waiting", html`due ${timeAndAge(startedAt, now)}`);
  const progress = toRead === null ? "listing" : `${formatCount(done)} of ${formatCount(toRead)}`;
  return card("current run", progress, html`run ${id}, started ${timeAndAge(startedAt, now)}`);
}

function formatSections({ runs, figures }: WorkerStatus, now: Date): Html {
  if (runs.length === 0) return html`<p>No run yet. The first one fills the database.</p>`;
  const drawn = runs.toReversed().map((run) => ({ ...run, durationMs: durationOf(run, now) }));
  return html`<main class="sections">
<section class="wide"><h2>Last runs</h2>
<div class="panels">${runsFigure(drawn)}<div>${unsuccessfulRuns(drawn)}</div></div>
${runsCard(runs, now)}</section>
${figures && failingSection(figures, now)}
${figures && rejectsSection(figures, now)}</main>`;
}

/** The time until the end of the run, or until now. */
const durationOf = ({ startedAt, finishedAt }: RunRow, now: Date) =>
  (finishedAt ?? now).getTime() - startedAt.getTime();

const UNFOLDED_RUNS = 8;

/** A table of the last runs, with the older ones folded. */
function runsCard(runs: readonly RunRow[], now: Date): Html {
  const older = runs.slice(UNFOLDED_RUNS);
  return html`${runsTable(runs.slice(0, UNFOLDED_RUNS), now)}
${older.length === 0 ? null : html`<details><summary>${plural(older.length, "older run")}</summary>${runsTable(older, now)}</details>`}`;
}

const runsTable = (runs: readonly RunRow[], now: Date) =>
  htmlTable(runs, [
    column("run", (run) => html`<span class="nowrap">${run.id} <small>${formatKind(run)}</small></span>`),
    column("status", ({ status }) => formatBadge(badgeOf(status))),
    column("started (UTC)", ({ startedAt }) => timeAndAge(startedAt, now)),
    numbers("took", (run) => formatElapsed(durationOf(run, now))),
    numbers("read", ({ read }) => read),
    numbers("changed", ({ changed }) => changed),
    numbers("failed", ({ failed }) => failed),
  ]);

/** The libraries whose last read failed; null if there are none. */
function failingSection({ failing }: CopyFigures, now: Date): Html | null {
  if (failing.total === 0) return null;
  const libraries = failing.shown.map((library) => ({ ...library, lastGoodAt: library.lastSuccessAt }));
  return html`<section class="wide"><h2>${plural(failing.total, "library fails", "libraries fail")}</h2>
${failingList(libraries, failing.total, (at) => timeAndAge(at, now), "simcat status")}</section>`;
}

/** A table of the open rejects, by library and code; null if there are none. */
function rejectsSection({ rejects }: CopyFigures, now: Date): Html | null {
  if (rejects.total === 0) return null;
  const table = htmlTable(rejects.shown, [
    column("library", ({ owner, name }) => (owner === null || name === null ? "(none)" : libraryName({ owner, name }))),
    column("kind", ({ kind }) => html`<span class="nowrap">${kind}</span>`),
    column("code", ({ code }) => html`<span class="nowrap">${code}</span>`),
    numbers("rejects", ({ count }) => count),
    column("first seen (UTC)", ({ firstSeenAt }) => timeAndAge(firstSeenAt, now)),
  ]);
  const left = rejects.groups - rejects.shown.length;
  return html`<section class="wide"><h2>${plural(rejects.total, "open reject")}</h2>
${table}
${left > 0 ? html`<p class="soft">… and ${formatCount(left)} more; see simcat status.</p>` : null}</section>`;
}
