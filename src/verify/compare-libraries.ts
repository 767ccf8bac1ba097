import { forEachConcurrently } from "../async.ts";
import { createCircuitBreaker } from "../circuit-breaker.ts";
import type { Pool } from "../db/connect.ts";
import type { TextParsers } from "../db/content-fields.ts";
import { ContentError, UnauthorizedError } from "../errors.ts";
import type { LibraryFailure, ListedLibrary } from "../model.ts";
import type { Service } from "../service/client.ts";
import type { RunEvent } from "../sync/run-types.ts";
import { compareContent } from "./compare-content.ts";
import type { Findings, LibraryDifference, RejectedItems } from "./findings.ts";

export interface CompareTools {
  readonly service: Service;
  readonly pool: Pool;
  readonly parse: TextParsers;
  readonly concurrency: number;
  readonly onEvent: (event: RunEvent) => void;
}

type ContentFindings = Pick<Findings, "scenarios" | "differences" | "unread" | "rejected">;

/**
 * Reads the content of these libraries, `concurrency` at a time, and compares it with their rows.
 * @throws UnauthorizedError if the service revokes the key, SourceUnavailableError if the circuit breaker opens
 */
export async function compareLibraries(
  libraries: readonly ListedLibrary[],
  tools: CompareTools,
  signal: AbortSignal,
): Promise<ContentFindings> {
  const { service, pool, parse, concurrency, onEvent } = tools;
  const differences: LibraryDifference[] = [];
  const unread: LibraryFailure[] = [];
  const rejected: RejectedItems[] = [];
  let scenarios = 0;
  const breaker = createCircuitBreaker();

  const compare = async (listed: ListedLibrary) => {
    const { key } = listed;
    const comparison = compareContent(pool, listed, parse, signal);
    const read = await service.readContent(key, comparison, signal);
    breaker.reset();
    const found = await comparison.finish(read);
    scenarios += found.scenarios;
    if (found.difference !== null) differences.push(found.difference);
    const [first] = read.rejects;
    if (first !== undefined) rejected.push({ key, count: read.rejects.length, reason: first.reason });
    onEvent({ kind: "stored", key });
  };
  const fail = async (listed: ListedLibrary, error: unknown) => {
    if (!(error instanceof ContentError)) throw error;
    if (error.code === "unauthorized" && (await service.confirmKey(signal)) === "refused") throw keyRefused(error);
    const failure = { key: listed.key, code: error.code, message: error.message };
    unread.push(failure);
    onEvent({ kind: "failed", ...failure });
    if (error.unavailable) breaker.countFailure();
    else breaker.reset();
    breaker.assertClosed(error, "; run simcat verify again later");
  };

  await forEachConcurrently(libraries, concurrency, (listed) => compare(listed).catch((error) => fail(listed, error)));
  return { scenarios, differences, unread, rejected };
}

function keyRefused(error: ContentError): UnauthorizedError {
  return new UnauthorizedError(
    "the service refused the key during the comparison: it was revoked or has expired. Set SIMCAT_API_KEY to a valid key and run simcat verify again",
    { cause: error },
  );
}
