import { forEachConcurrently } from "../async.ts";
import { createCircuitBreaker } from "../circuit-breaker.ts";
import { ContentError, UnauthorizedError } from "../errors.ts";
import type { LibraryFailure, ListedLibrary, ReceivedContent, StoredLibrary } from "../model.ts";
import type { Service } from "../service/client.ts";
import { hashContent } from "../sync/read-library.ts";
import { decide } from "../sync/rules/decide.ts";
import type { RunEvent, RunSettings } from "../sync/run-types.ts";
import { compareContent, type StoredSide } from "./compare-content.ts";
import type { ContentFindings, LibraryDifference } from "./findings.ts";

export interface CompareTools extends StoredSide {
  readonly service: Service;
  readonly settings: Pick<RunSettings, "concurrency" | "fullEveryMs" | "serviceTimezone">;
  readonly onEvent: (event: RunEvent) => void;
}

/** A library on both sides, whose content has to be compared. */
export interface LibraryPair {
  readonly listed: ListedLibrary;
  readonly stored: StoredLibrary;
}

/**
 * Reads the content of these libraries, `concurrency` at a time, and compares it with their rows. `now` is in database ms.
 * @throws UnauthorizedError if the service revokes the key, SourceUnavailableError if the circuit breaker opens
 */
export async function compareLibraries(
  libraries: readonly LibraryPair[],
  now: number,
  tools: CompareTools,
  signal: AbortSignal,
): Promise<ContentFindings> {
  const { service, settings, onEvent } = tools;
  const differences: LibraryDifference[] = [];
  const unread: LibraryFailure[] = [];
  const rejected: ContentFindings["rejected"][number][] = [];
  let scenarios = 0;
  const breaker = createCircuitBreaker();

  const compare = async (pair: LibraryPair) => {
    const { key } = pair.listed;
    const { sink, finish } = compareContent(tools, pair.listed, signal);
    const read = await service.readContent(key, sink, signal);
    breaker.reset();
    const found = await finish(read);
    scenarios += found.scenarios;
    if (found.difference !== null)
      differences.push({ ...found.difference, remedy: remedyFor(pair, read, now, settings) });
    const [first] = read.rejects;
    if (first !== undefined) rejected.push({ key, count: read.rejects.length, reason: first.reason });
    onEvent({ kind: "stored", key });
  };
  const fail = async ({ listed: { key } }: LibraryPair, error: unknown) => {
    if (!(error instanceof ContentError)) throw error;
    if (error.code === "unauthorized" && (await service.confirmKey(signal)) === "refused") {
      const message =
        "the service refused the key during the comparison: it was revoked or has expired. Set SIMCAT_API_KEY to a valid key and run simcat verify again";
      throw new UnauthorizedError(message, { cause: error });
    }
    const failure = { key, code: error.code, message: error.message };
    unread.push(failure);
    onEvent({ kind: "failed", ...failure });
    if (error.unavailable) breaker.countFailure(false);
    else breaker.reset();
    breaker.assertClosed(error, "; run simcat verify again later");
  };

  await forEachConcurrently(libraries, settings.concurrency, (pair) =>
    compare(pair).catch((error) => fail(pair, error)),
  );
  return { scenarios, differences, unread, rejected };
}

/** The next sync resolves a difference if it reads the library and its content hash is another one, so that it compares the rows. */
function remedyFor(
  { listed, stored }: LibraryPair,
  read: ReceivedContent,
  now: number,
  { fullEveryMs, serviceTimezone }: CompareTools["settings"],
): LibraryDifference["remedy"] {
  const isRead = decide(listed, stored, { now, fullEveryMs, backfillSince: null }).kind === "read";
  const isPartial = read.rejects.length > 0 || listed.source === null;
  const isChanged = isPartial || stored.sync?.contentHash !== hashContent(listed, read, serviceTimezone);
  return isRead && isChanged ? "sync" : "backfill";
}
