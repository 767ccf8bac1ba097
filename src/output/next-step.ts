import type { StatusRows } from "../db/read/read-status.ts";
import { shellWord, typeableKey } from "../key.ts";
import type { LibraryKey } from "../model.ts";
import type { RunStatus } from "../run-summary.ts";

/** The next step after a run with this status; null if it needs none. */
const AFTER: Readonly<Record<Exclude<RunStatus, "running">, string | null>> = {
  ok: null,
  partial: null,
  held: "simcat sync --dry-run shows the held removals; if they are right, run simcat sync --allow-removals",
  source_unavailable: "simcat check shows whether the service answers again; then run simcat sync",
  source_untrusted: "simcat check shows what the service answers; correct SIMCAT_BASE_URL, then run simcat sync",
  unauthorized: "set SIMCAT_API_KEY to a valid key; simcat check shows whether the service accepts it",
  database_failed: "simcat check shows what is wrong with the database; then run simcat sync",
  interrupted: "run simcat sync; it continues from what is stored",
  lost_lease: "run simcat sync; it continues from what is stored",
  abandoned: "run simcat sync; it continues from what is stored",
  failed: "the log of that run has the details; what it stored is consistent: run simcat sync",
};

/** What to do after a run with this status; null if nothing. */
export const remedyAfter = (status: RunStatus): string | null => (status === "running" ? null : AFTER[status]);

/** The one most useful next step for the operator. */
export function nextStep({ runs, liveRuns, lastGoodRun, slices, failing, rejects }: StatusRows): string {
  const [last] = runs;
  if (last === undefined) return "nothing has been synced yet: run simcat check, then simcat backfill";
  if (liveRuns.size > 1) return "wait for the runs in progress, then run simcat status again";
  if (liveRuns.size === 1) return "wait for the run in progress, then run simcat status again";
  if (last.status === "running") return "run simcat sync; it continues from what the dead run stored";
  const after = AFTER[last.status];
  if (after !== null) return after;
  if (last.scope?.slice !== undefined) return afterSlice(last.scope.slice, slices);
  if (lastGoodRun === null) return "only selected libraries have been synced: run simcat sync for all of them";
  const [failed] = failing.shown;
  if (failed !== undefined)
    return `${formatExplainCommand(failed)} has the details and says when the library is read again`;
  if (rejects.total === 0) return "nothing; simcat start keeps the copy up to date";
  const [rejected] = rejects.shown.flatMap(({ owner, name }) =>
    owner === null || name === null ? [] : { owner, name },
  );
  if (rejected !== undefined) return `${formatExplainCommand(rejected)} shows which items could not be stored, and why`;
  return "simcat check shows why entries of the listing cannot be stored";
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
  const library = typeableKey(key);
  return `simcat explain ${library.startsWith("-") ? "-- " : ""}${shellWord(library)}`;
}
