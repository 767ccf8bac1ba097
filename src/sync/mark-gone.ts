import { markRemoved } from "../db/removals.ts";
import { keyText } from "../key.ts";
import type { LibraryKey, Selection } from "../model.ts";
import type { Prepared } from "./prepare.ts";
import { selectorOf } from "./selection.ts";
import type { Write } from "./write.ts";

/** Marks what the guard let pass as removed. Answers how many libraries were marked. */
export async function markGone(prepared: Prepared, selection: Selection, runId: number, write: Write): Promise<number> {
  const gone = prepared.plan.missing.map((one) => one.key);
  const neverStored = unlistedStrangers(prepared, selection);
  if (gone.length + neverStored.length === 0) return 0;
  return write({ doing: "marking removed libraries", reconcile: Math.max }, (connection) =>
    markRemoved(connection, runId, gone, neverStored),
  );
}

/** Libraries that were listed once, never stored, and are not listed any more. */
function unlistedStrangers({ stored, listing }: Prepared, selection: Selection): LibraryKey[] {
  const strangers = [...stored.values()].filter((one) => !one.stored);
  if (strangers.length === 0) return [];
  const listed = new Set(listing.libraries.map((one) => keyText(one.key)));
  const isSelected = selectorOf(selection);
  return strangers.map((one) => one.key).filter((key) => !listed.has(keyText(key)) && isSelected(key));
}
