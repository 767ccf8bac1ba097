import type { StatusRows } from "../db/read/read-status.ts";
import { shellWord, typeableKey } from "../key.ts";
import type { LibraryKey, RunStatus } from "../model.ts";

/** What to do about a run that ended so; null where there is nothing to do about it. */
const AFTER: Readonly<Record<Exclude<RunStatus, "running">, string | null>> = {
  ok: null,
  partial: null,
  held: "see what would be removed with simcat sync --dry-run; if that is right, run it again with --allow-removals",
  source_unavailable: "simcat check says whether the service answers now; then run simcat sync",
  source_untrusted: "simcat check says what the service answers; correct SIMCAT_BASE_URL, then run simcat sync",
  unauthorized: "put a valid key into SIMCAT_API_KEY; simcat check says whether the service takes it",
  database_failed: "simcat check says what the database lacks; then run simcat sync",
  interrupted: "run simcat sync; it goes on from what is stored",
  lost_lease: "run simcat sync; it goes on from what is stored",
  abandoned: "run simcat sync; it goes on from what is stored",
  failed: "the log of that run says more; what it stored is whole: run simcat sync",
};

/** The one thing to do next. */
export function nextStep({ runs, holder, lastGoodRun, failing, rejects }: StatusRows): string {
  const [last] = runs;
  if (last === undefined) return "nothing was ever synced here: run simcat check, then simcat backfill";
  if (last.status === "running") {
    return holder === null
      ? "run simcat sync; it goes on from what the dead run stored"
      : "wait for the run that is at work, then look again";
  }
  const after = AFTER[last.status];
  if (after !== null) return after;
  if (lastGoodRun === null) return "only selected libraries were synced so far: run simcat sync for all of them";
  const [failed] = failing.shown;
  if (failed !== undefined)
    return `${explainCommand(failed)} says more of it; the next run reads all that failed again`;
  if (rejects.total === 0) return "nothing; simcat start keeps the copy fresh";
  const [rejected] = rejects.shown.flatMap(({ owner, name }) =>
    owner === null || name === null ? [] : { owner, name },
  );
  if (rejected !== undefined) return `${explainCommand(rejected)} says what could not be read, and why`;
  return "simcat check says why entries of the listing cannot be stored";
}

/** A command line to paste. An owner that begins with a dash would be taken for an option. */
export function explainCommand(key: LibraryKey): string {
  const library = typeableKey(key);
  return `simcat explain ${library.startsWith("-") ? "-- " : ""}${shellWord(library)}`;
}
