import type { Pool } from "../db/connect.ts";
import type { TextParsers } from "../db/content-fields.ts";
import { ContentError, SourceUnavailableError, UnauthorizedError } from "../errors.ts";
import type { LibraryFailure, ListedLibrary } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { RunEvent } from "../sync/run-types.ts";
import { compareContent } from "./compare-content.ts";
import type { LibraryDifference, RejectedItems } from "./findings.ts";

/** Circuit breaker: after this many consecutive failures (network or 5xx), assume the service is down. */
const BREAKER = 20;

export interface CompareTools {
  readonly service: Service;
  readonly pool: Pool;
  readonly texts: TextParsers;
  readonly concurrency: number;
  readonly tell: (event: RunEvent) => void;
}

export interface ContentFindings {
  readonly scenarios: number;
  readonly differences: readonly LibraryDifference[];
  readonly unread: readonly LibraryFailure[];
  readonly rejected: readonly RejectedItems[];
}

/** Reads these libraries' content and compares it with their rows, as many at once as the settings allow. */
export async function compareLibraries(
  libraries: readonly ListedLibrary[],
  tools: CompareTools,
  signal: AbortSignal,
): Promise<ContentFindings> {
  const { service, pool, texts, concurrency, tell } = tools;
  const differences: LibraryDifference[] = [];
  const unread: LibraryFailure[] = [];
  const rejected: RejectedItems[] = [];
  let scenarios = 0;
  let unavailableInARow = 0;

  const compare = async (listed: ListedLibrary) => {
    const { key } = listed;
    const comparison = compareContent(pool, listed, texts, signal);
    const read = await service.readContent(key, comparison, signal);
    unavailableInARow = 0;
    const found = await comparison.finish(read);
    scenarios += found.scenarios;
    if (found.difference !== null) differences.push(found.difference);
    const [first] = read.rejects;
    if (first !== undefined) rejected.push({ key, count: read.rejects.length, reason: first.reason });
    tell({ kind: "stored", key });
  };
  const fail = async (listed: ListedLibrary, error: unknown) => {
    if (!(error instanceof ContentError)) throw error;
    if (error.code === "unauthorized" && (await service.confirmKey(signal)) === "refused") throw refused(error);
    const failure = { key: listed.key, code: error.code, message: error.message };
    unread.push(failure);
    tell({ kind: "failed", ...failure });
    unavailableInARow = error.unavailable ? unavailableInARow + 1 : 0;
    if (unavailableInARow >= BREAKER) throw broken(error);
  };

  const queue = libraries.values();
  const ending: unknown[] = [];
  const work = async () => {
    for (const listed of queue) {
      if (ending.length > 0) return;
      await compare(listed)
        .catch((error) => fail(listed, error))
        .catch((error) => ending.push(error));
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, libraries.length) }, work));
  if (ending.length > 0) throw ending[0];
  return { scenarios, differences, unread, rejected };
}

function refused(error: ContentError): UnauthorizedError {
  return new UnauthorizedError(
    "the service refused the key in the middle of the comparison: it was revoked or has expired. Set SIMCAT_API_KEY to a valid key and verify again",
    { cause: error },
  );
}

function broken(error: ContentError): SourceUnavailableError {
  return new SourceUnavailableError(
    `${BREAKER} libraries in a row could not be read, so the service is taken to be down (the last: ${error.message}); verify again later`,
    { cause: error },
  );
}
