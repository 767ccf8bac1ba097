import type { Listing, Reject } from "../model.ts";
import { cachedMs, dateOf, header } from "./http/headers.ts";
import { namesNextPage } from "./http/link-header.ts";
import type { Answer } from "./http/transport.ts";
import { splitArray } from "./wire/json-array.ts";
import { readListing } from "./wire/wire-listing.ts";

const ONE_PAGE =
  "the service sent only one page of its list (Link: rel=next), and simcat knows no way to ask for the rest";

/** What the other pages hold was sent to nobody, and stays on record for as long as it is missing. */
function rejectPaged(link: string): Reject {
  return { key: null, kind: "listing", code: "paged_answer", path: "", reason: ONE_PAGE, payload: link };
}

/** Reads the answer of `GET /libs` (specification 4.1), item by item while it comes. */
export async function readListingAnswer(answer: Answer, defaultOwner: string | null): Promise<Listing> {
  const splitter = splitArray();
  const reader = readListing(defaultOwner);
  for (let bytes = await answer.read(); bytes !== null; bytes = await answer.read()) {
    reader.add(splitter.push(bytes), splitter.plain());
  }
  const endedAt = answer.endedAt();
  splitter.end();
  const listing = reader.finish();
  const link = header(answer.headers, "link") ?? "";
  const isPaged = namesNextPage(link);
  const incomplete = [listing.incomplete, isPaged ? ONE_PAGE : null].filter((reason) => reason !== null);
  return {
    ...listing,
    rejects: isPaged ? [...listing.rejects, rejectPaged(link)] : listing.rejects,
    incomplete: incomplete.length === 0 ? null : incomplete.join("; "),
    startedAt: answer.sentAt,
    endedAt,
    date: dateOf(answer.headers),
    cachedMs: cachedMs(answer.headers),
  };
}
