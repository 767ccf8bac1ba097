import type { StatusRows } from "../db/read/read-status.ts";
import type { LiveRun, RunRow } from "../db/read/recent-runs.ts";
import { formatAgo, formatCount, formatElapsed, formatInstant, formatMoment, plural } from "../format.ts";
import { formatKey, shellWord } from "../key.ts";
import type { LibraryKey } from "../model.ts";
import { printable } from "../printable.ts";
import type { RunStatus } from "../run-summary.ts";
import { HOUR_MS } from "../units.ts";
import { type Look, mark, PLAIN, toneOf } from "./look.ts";
import { toSnakeCase } from "./summary.ts";
import { formatTable } from "./table.ts";
import { nextTryOf } from "./verdict.ts";

/** The status for people. Tables are at most `columns` wide. */
export function formatStatus(rows: StatusRows, columns: number, look = PLAIN): string {
  if (rows.runs.length === 0) return `no run yet\nnext: ${nextStep(rows)}`;
  const tables = [formatRuns, formatFailing, formatRejects].map((format) => format(rows, columns, look));
  const parts = [formatFreshness(rows, look), ...tables, `next: ${nextStep(rows)}`];
  return parts.filter((part) => part !== null).join("\n\n");
}

function formatFreshness({ now, lastGoodRun, libraries, scenarios }: StatusRows, look: Look): string {
  const { live, settled, removed, neverStored, oldestContentReadAt } = libraries;
  const good =
    lastGoodRun === null
      ? "none yet"
      : `run ${lastGoodRun.id} (${look.paint(toneOf(lastGoodRun.status), lastGoodRun.status)}), started ${formatMoment(lastGoodRun.startedAt, now)}`;
  const others = [`${formatCount(removed)} removed`];
  if (neverStored > 0) others.push(`${formatCount(neverStored)} listed and never stored`);
  return [
    `last good run  ${good}`,
    `libraries      ${formatCount(live)} live, ${others.join(", ")}`,
    `dates          ${formatCount(settled)} settled, ${formatCount(live - settled)} not settled yet`,
    `scenarios      ${formatCount(scenarios)} live`,
    `oldest read    ${live === 0 ? "none" : formatMoment(oldestContentReadAt, now)}`,
  ].join("\n");
}

/** The last runs, newest first, and a line for a run in progress and for each error since the last good run. */
function formatRuns({ runs, now, liveRuns, lastGoodRun }: StatusRows, columns: number, look: Look): string {
  const titles = [
    "run",
    "kind",
    { title: "status", paint: (cell: string) => look.paint(toneOf(cell.trim()), cell) },
    "started",
    { title: "took", spare: 3 },
    { title: "at", spare: 4 },
    "read",
    { title: "skipped", spare: 2 },
    "changed",
    "failed",
    { title: "removed", spare: 1 },
  ];
  const rows = runs.map((run) => [
    `${run.id}`,
    formatKind(run),
    run.isDead ? "dead" : run.status,
    formatAgo(run.startedAt, now),
    run.isDead || run.status === "abandoned" ? "" : formatElapsed(run.durationMs),
    formatInstant(run.startedAt),
    ...[liveRuns.get(run.id)?.read ?? run.read, run.skipped, run.changed, run.failed, run.removed].map((count) =>
      count === null ? "" : formatCount(count),
    ),
  ]);
  const notes = runs
    .filter(({ id }) => liveRuns.has(id) || id >= (lastGoodRun?.id ?? 0))
    .map((run) => [run.id, formatNote(run, liveRuns.get(run.id))] as const)
    .filter(([, note]) => note !== null);
  const ids = new Map<string | null, number[]>();
  for (const [id, note] of notes) ids.set(note, [...(ids.get(note) ?? []), id]);
  const lines = [...ids].map(([note, of]) => `${of.length === 1 ? "run" : "runs"} ${of.join(", ")}: ${note}`);
  return [formatTable(titles, rows, columns), ...lines].join("\n");
}

/** The kind of a run and which part of the organization it concerns. */
export function formatKind({ kind, scope }: RunRow): string {
  if (scope === null) return kind;
  return scope.slice === undefined ? `${kind} (selected)` : `${kind} (slice ${scope.slice})`;
}

/** About a run that is still marked as running, but whose lease has expired. */
export const DIED = "the process has ended; the next run marks this as abandoned";

function formatNote({ isDead, error }: RunRow, live: LiveRun | undefined): string | null {
  if (isDead) return DIED;
  if (live !== undefined) {
    const { holder, read, known } = live;
    const by = isDead === null ? "unless its process has ended, which this role cannot see" : `by ${printable(holder)}`;
    return `in progress, ${by}; ${formatCount(read)} of ${plural(known, "known library", "known libraries")} read`;
  }
  const [firstLine = ""] = (error ?? "").split("\n");
  return firstLine === "" ? null : printable(firstLine);
}

/** The libraries whose last read failed, those with the same error in one row; null if there are none. */
function formatFailing({ failing, now }: StatusRows, columns: number, look: Look): string | null {
  if (failing.total === 0) return null;
  const titles = ["library", "in a row", "failed", "next try", "last good copy", "error"];
  const reasons = failing.shown.map((library) => library.reason ?? formatKey(library));
  const firsts = failing.shown.filter((_, index) => reasons.indexOf(reasons[index] ?? "") === index);
  const rows = firsts.map((library) => {
    const { owner, name, failures, lastFailedAt, lastSuccessAt, lastError, removalHeldAt, alike = 1 } = library;
    const nextTry = nextTryOf(library);
    const isDue = nextTry === null || nextTry <= now;
    return [
      // The number first, because a narrow terminal cuts the end.
      (alike > 1 ? `${formatCount(alike)}, such as ` : "") + formatKey({ owner, name }),
      formatCount(failures),
      lastFailedAt === null ? "" : formatAgo(lastFailedAt, now),
      removalHeldAt === null ? (isDue ? "next run" : formatAgo(nextTry, now)) : "none: held",
      lastSuccessAt === null ? "never" : formatAgo(lastSuccessAt, now),
      lastError ?? "",
    ];
  });
  return [
    mark(look, "bad", plural(failing.total, "library fails", "libraries fail")),
    formatTable(titles, rows, columns),
    ...formatRest(failing.total - firsts.reduce((sum, { alike = 1 }) => sum + alike, 0)),
  ].join("\n");
}

/** The open rejects, by library and code; null if there are none. */
function formatRejects({ rejects, now }: StatusRows, columns: number, look: Look): string | null {
  if (rejects.total === 0) return null;
  const titles = ["library", "kind", "code", "rejects", "first seen"];
  const rows = rejects.shown.map(({ owner, name, kind, code, count, firstSeenAt }) => [
    owner === null || name === null ? "(none)" : formatKey({ owner, name }),
    kind,
    code,
    formatCount(count),
    firstSeenAt === null ? "" : formatAgo(firstSeenAt, now),
  ]);
  return [
    mark(look, "warn", plural(rejects.total, "open reject")),
    formatTable(titles, rows, columns),
    ...formatRest(rejects.groups - rejects.shown.length),
  ].join("\n");
}

const formatRest = (count: number) => (count > 0 ? [`… and ${formatCount(count)} more`] : []);

/** The status for machines, under the names of the tables' columns. */
export function toStatusJson(rows: StatusRows) {
  const { now, runs, lastGoodRun, holder, libraries, scenarios, failing, rejects } = rows;
  return {
    now,
    last_good_run: lastGoodRun === null ? null : toRunRowJson(lastGoodRun, rows),
    lease_holder: holder,
    libraries: {
      live: libraries.live,
      settled: libraries.settled,
      unsettled: libraries.live - libraries.settled,
      removed: libraries.removed,
      never_stored: libraries.neverStored,
      failing: failing.total,
      oldest_content_read_at: libraries.oldestContentReadAt,
    },
    scenarios: { live: scenarios },
    runs: runs.map((run) => toRunRowJson(run, rows)),
    failing: failing.shown.map((library) => {
      const { owner, name, failures, lastFailedAt, lastSuccessAt, lastError } = library;
      const nextReadDueAt = nextTryOf(library);
      return toSnakeCase({ owner, library: name, failures, lastFailedAt, nextReadDueAt, lastSuccessAt, lastError });
    }),
    open_rejects: rejects.total,
    open_reject_groups: rejects.groups,
    rejects: rejects.shown.map(({ owner, name, ...group }) => ({ owner, library: name, ...toSnakeCase(group) })),
    next: nextStep(rows),
  };
}

function toRunRowJson(run: RunRow, { liveRuns }: StatusRows) {
  const live = liveRuns.get(run.id);
  return {
    id: run.id,
    kind: run.kind,
    scope: run.scope,
    status: run.status,
    dead: run.isDead,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    duration_ms: run.durationMs,
    libraries_read: live?.read ?? run.read,
    libraries_skipped: run.skipped,
    libraries_changed: run.changed,
    libraries_failed: run.failed,
    libraries_removed: run.removed,
    error: run.error,
  };
}

/** The next step after a run with this status; null if it needs none. AGAIN stands for the command of the run. */
const AFTER = {
  ok: null,
  partial: null,
  held: "simcat sync --dry-run shows what is still held; if the removals are right, run simcat sync --allow-removals",
  source_unavailable: "simcat check shows whether the service answers again; then run AGAIN",
  source_untrusted: "simcat check shows what is wrong with the answers of the service; then run AGAIN",
  unauthorized: "replace the key by a valid one; simcat check shows whether the service accepts it",
  database_failed: "simcat check shows what is wrong with the database; then run AGAIN",
  interrupted: "run AGAIN; it continues from what is stored",
  lost_lease: "run AGAIN; it continues from what is stored",
  abandoned: "run AGAIN; it continues from what is stored",
  failed: "the log of that run has the details; what it stored is consistent: run AGAIN",
} satisfies Readonly<Record<Exclude<RunStatus, "running">, string | null>>;

/** What to do after this run; null if nothing. Only a backfill of the same scope continues one. */
export function remedyAfter({ kind, scope, status }: Pick<RunRow, "kind" | "scope" | "status">): string | null {
  const again = `simcat ${kind}${kind === "sync" || scope === null ? "" : " with the same selection"}`;
  return status === "running" ? null : (AFTER[status]?.replace("AGAIN", again) ?? null);
}

/** A date without a time of day settles after up to 25 hours; the copy is not complete as of a later time until then. */
export const OLD_AFTER_MS = 26 * HOUR_MS;

/** The one most useful next step for the operator. */
function nextStep(rows: StatusRows): string {
  const { now, runs, liveRuns, holder, lastGoodRun, seenAsOf, slices, libraries, failing, rejects } = rows;
  const [last] = runs;
  if (last === undefined) return "nothing has been synced yet: run simcat check, then simcat backfill";
  if (liveRuns.size > 0) {
    const alive = runs.some(({ isDead }) => isDead === null) ? ", if still alive" : "";
    return `wait for the ${liveRuns.size === 1 ? "run" : "runs"} in progress${alive}, then run simcat status again`;
  }
  if (holder?.endsWith(" prune")) return `wait for ${printable(holder)}; until it ends, runs end with 75`;
  const after = remedyAfter(last.status === "running" ? { ...last, status: "abandoned" } : last);
  if (after !== null) return after;
  const whole = runs.find(({ scope }) => scope === null) ?? lastGoodRun;
  if (last.scope !== null && whole !== null) {
    if (whole.id > (lastGoodRun?.id ?? 0)) return "run simcat sync, because the last run of all libraries was not good";
    if (whole.status === "held") return AFTER.held;
  }
  if (last.scope?.slice !== undefined) return afterSlice(last.scope.slice, slices);
  if (whole === null) return "only selected libraries have been synced: run simcat sync for all of them";
  const [failed] = failing.shown;
  if (failed !== undefined)
    return `${formatExplainCommand(failed)} has the details and says when the library is read again`;
  const isOld = (at: Date) => now.getTime() - at.getTime() > OLD_AFTER_MS;
  if (lastGoodRun !== null && isOld(lastGoodRun.startedAt))
    return "run simcat sync, because the last good run is old; simcat start keeps the copy up to date";
  if (seenAsOf === null ? lastGoodRun !== null && rejects.total === 0 : isOld(seenAsOf)) {
    const since = seenAsOf === null ? "yet" : `since ${formatMoment(seenAsOf, now)}`;
    return `no run has seen everything ${since}, because a cache answers the listing or it is incomplete: simcat sync warns of it`;
  }
  const { cachedContentAsOf: cached } = libraries;
  if (cached !== null && isOld(cached)) {
    const age = cached.getTime() === 0 ? "of unknown age" : `as of ${formatMoment(cached, now)}`;
    return `a cache answers requests for content, ${age}: configure it to pass the requests of simcat through`;
  }
  if (rejects.total === 0 && libraries.owing > 0)
    return "run simcat sync: some libraries owe a second read, and simcat libraries shows which";
  if (rejects.total === 0 && lastGoodRun !== null) return "nothing; simcat start keeps the copy up to date";
  const [rejected] = rejects.shown.flatMap(({ owner, name }) =>
    owner === null || name === null ? [] : { owner, name },
  );
  if (rejected !== undefined) return `${formatExplainCommand(rejected)} shows which items could not be stored, and why`;
  return "simcat check shows what is wrong with the listing";
}

/** The next step after a slice, such as 3/8; `done`: the slices that were read since the last run of everything. */
function afterSlice(slice: string, done: readonly string[]): string {
  const [, count = ""] = slice.split("/");
  const all = Array.from({ length: Number(count) }, (_, index) => `${index + 1}/${count}`);
  const missing = all.filter((one) => !done.includes(one));
  if (missing.length === 0) return "run simcat sync: every slice was read, and an ordinary run completes the copy";
  return `run the other slices (${missing.join(", ")}), then simcat sync, which completes the copy`;
}

/** A command line to paste. After `--`, an owner that begins with a dash is not an option. */
export function formatExplainCommand(key: LibraryKey): string {
  const library = formatKey(key);
  return `simcat explain ${library.startsWith("-") ? "-- " : ""}${shellWord(library)}`;
}
