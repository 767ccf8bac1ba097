import type { Listing, Reject } from "../model.ts";
import type { AbortScope } from "./http/abort-scope.ts";
import { FailedGet, get } from "./http/get.ts";
import { cachedMs, hasNextPage, header, readDate } from "./http/headers.ts";
import type { HttpContext } from "./http/http-context.ts";
import type { HttpResponse } from "./http/response.ts";
import { redactReject } from "./redact.ts";
import { toListingError } from "./service-errors.ts";
import { listingPath } from "./urls.ts";
import { type KeyFilter, readListing } from "./wire/wire-listing.ts";

/** Reads the listing (specification 4.1). */
export async function listLibraries(
  context: HttpContext,
  defaultOwner: string | null,
  scope: AbortScope,
  isKept?: KeyFilter,
): Promise<Listing> {
  const path = listingPath(context.basePath);
  const parse = (response: HttpResponse) => parseListing(response, defaultOwner, isKept);
  try {
    const listing = await get(context, { operation: "listing", path, resource: path, parse }, scope);
    return { ...listing, rejects: listing.rejects.map((reject) => redactReject(reject, context.redact)) };
  } catch (error) {
    throw error instanceof FailedGet ? toListingError(error, context) : error;
  }
}

const ONE_PAGE =
  "the service sent only one page of its list (Link: rel=next), and simcat knows no way to ask for the rest";

/** The reject that keeps the run partial while the other pages of the listing are missing. */
function rejectPaged(link: string): Reject {
  return { key: null, kind: "listing", code: "paged_answer", path: "", reason: ONE_PAGE, payload: link };
}

async function parseListing(response: HttpResponse, defaultOwner: string | null, isKept?: KeyFilter): Promise<Listing> {
  const listing = await readListing(response, defaultOwner, isKept);
  const link = header(response.headers, "link") ?? "";
  const isPaged = hasNextPage(link);
  const incomplete = [listing.incomplete, isPaged ? ONE_PAGE : null].filter((reason) => reason !== null);
  return {
    ...listing,
    rejects: isPaged ? [...listing.rejects, rejectPaged(link)] : listing.rejects,
    incomplete: incomplete.length === 0 ? null : incomplete.join("; "),
    startedAt: response.sentAt,
    cachedMs: cachedMs(response.headers),
    date: readDate(response.headers),
  };
}
