import type { RunInTransaction } from "../db/fenced-transaction.ts";
import { saveListing } from "../db/store/save-listing.ts";
import { keyText } from "../key.ts";
import { type FailTools, failLibrary, unstorable } from "./fail-library.ts";
import { toListingWrite } from "./listing-write.ts";
import type { Prepared } from "./prepare.ts";
import { warnOfUnrecorded } from "./warnings.ts";

/**
 * Records what is new in the listing, before any content is read.
 * @returns what to read: a library whose listed text the database refuses to record has failed, and is not read, because the
 *   next run would not know that its bookmark is unsettled
 */
export async function recordListing(
  tools: FailTools,
  prepared: Prepared,
  runId: number,
  write: RunInTransaction,
): Promise<Prepared> {
  const news = toListingWrite(prepared);
  if (news === null) return prepared;
  const unrecorded = new Set<string>();
  await saveListing(write, runId, news, (key, error) => {
    const refused = unstorable("recording what is listed", error);
    if (key === null) return warnOfUnrecorded(tools.tally, key, tools.mask(refused.message));
    if (!unrecorded.has(keyText(key))) failLibrary(tools, key, refused);
    unrecorded.add(keyText(key));
  });
  if (unrecorded.size === 0) return prepared;
  const actions = prepared.plan.actions.filter(({ listed }) => !unrecorded.has(keyText(listed.key)));
  return { ...prepared, plan: { ...prepared.plan, actions } };
}
