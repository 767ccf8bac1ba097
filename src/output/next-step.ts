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
export function nextStep({ runs, holder, lastGoodRun, failing, rejects }: StatusRows): string {
  const [last] = runs;
  if (last === undefined) return "nothing has been synced yet: run simcat check, then simcat backfill";
  if (last.status === "running") {
    return holder === null
      ? "run simcat sync; it continues from what the dead run stored"
      : "wait for the run in progress, then run simcat status again";
  }
  const after = AFTER[last.status];
  if (after !== null) return after;
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

/** A command line to paste. After `--`, an owner that begins with a dash is not an option. */
export function formatExplainCommand(key: LibraryKey): string {
  const library = typeableKey(key);
  return `simcat explain ${library.startsWith("-") ? "-- " : ""}${shellWord(library)}`;
}
