import { concurrently } from "../async.ts";
import { CircuitBreaker, manyFailed } from "../circuit-breaker.ts";
import type { Connection, Pool } from "../db/connect.ts";
import {
  type ColumnDifference,
  type ComparedRow,
  compareLibraryRow,
  compareScenarioRows,
  MAX_EXAMPLES,
  readScenarioSources,
  readUnlistedScenarios,
} from "../db/read/compare-rows.ts";
import type { ReadSource } from "../db/read/read-source.ts";
import { readSnapshot } from "../db/transaction.ts";
import { ContentError, UnauthorizedError } from "../errors.ts";
import type {
  LibraryFailure,
  LibraryKey,
  ListedLibrary,
  ReceivedContent,
  Scenario,
  ScenarioId,
  ScenarioSink,
  StoredLibrary,
  TextParsers,
} from "../model.ts";
import type { Service } from "../service/client.ts";
import { hashContent } from "../sync/read-library.ts";
import { decide } from "../sync/rules/decide.ts";
import type { RunEvent, RunSettings } from "../sync/run-types.ts";

export interface CompareTools {
  readonly service: Service;
  readonly pool: Pool;
  readonly source: ReadSource;
  readonly parsers: TextParsers;
  readonly settings: Pick<RunSettings, "concurrency" | "fullEveryMs" | "serviceTimezone">;
  readonly onEvent: (event: RunEvent) => void;
}

/** A library on both sides, whose content has to be compared. */
export interface LibraryPair {
  readonly listed: ListedLibrary;
  readonly stored: StoredLibrary;
}

/**
 * How a row and the service differ. `missing`: the service has the item, the database does not. `removed`: the service has
 * it, the database has marked it as removed. `unlisted`: only the database has it. `content`: both have it and differ.
 */
export type DifferenceKind = "missing" | "removed" | "unlisted" | "content";

interface ScenarioDifference {
  readonly id: ScenarioId;
  readonly kind: DifferenceKind;
  readonly columns: readonly ColumnDifference[];
}

export interface LibraryDifference {
  readonly key: LibraryKey;
  readonly kind: DifferenceKind;
  /**
   * The command that resolves it. `sync`: the next sync, which reads the library or marks it as removed in any case. `backfill`: only a
   * backfill that compares every row. `allow-removals`: its removal is held.
   */
  readonly remedy: "sync" | "backfill" | "allow-removals";
  /** Differences of the library's own row. */
  readonly columns: readonly ColumnDifference[];
  /** How many of its scenarios differ. */
  readonly counts: Readonly<Record<DifferenceKind, number>>;
  /** The first MAX_EXAMPLES scenarios of each kind. */
  readonly examples: readonly ScenarioDifference[];
  /** For an unlisted library whose removal a guard holds: since when. Otherwise null. */
  readonly removalHeldAt: Date | null;
}

/** The result of one comparison. */
export interface Findings {
  /** Listed libraries in scope. */
  readonly listed: number;
  /** Compared scenarios. */
  scenarios: number;
  differences: LibraryDifference[];
  unread: LibraryFailure[];
  /** Items that could not be compared because they are rejects, with the reason of the first; null: an entry without a readable key. */
  rejected: { readonly key: LibraryKey | null; readonly count: number; readonly reason: string }[];
  /** Why the listing is incomplete, so that libraries that it lacks were not compared; null if it is complete. */
  incomplete: string | null;
}

/**
 * Reads the content of these libraries, `concurrency` at a time, compares it with their rows, and adds to `findings` what
 * differs. `now` is in database ms.
 * @throws UnauthorizedError if the service revokes the key, SourceUnavailableError if the circuit breaker opens
 */
export async function compareLibraries(
  libraries: readonly LibraryPair[],
  now: number,
  findings: Findings,
  tools: CompareTools,
  signal: AbortSignal,
): Promise<void> {
  const { service, settings, onEvent } = tools;
  const breaker = new CircuitBreaker();

  const compare = async (pair: LibraryPair) => {
    const { key } = pair.listed;
    const { sink, finish } = compareContent(tools, pair.listed, signal);
    const read = await service.readContent(key, sink, signal);
    breaker.reset();
    const { scenarios, difference } = await finish(read);
    findings.scenarios += scenarios;
    if (difference !== null) findings.differences.push({ ...difference, remedy: remedyFor(pair, read, now, settings) });
    const [first] = read.rejects;
    if (first !== undefined) findings.rejected.push({ key, count: read.rejects.length, reason: first.reason });
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
    findings.unread.push(failure);
    onEvent({ kind: "failed", ...failure });
    if (!error.unavailable) breaker.reset();
    else if (breaker.addFailure(false) === "open") throw manyFailed(error, "; run simcat verify again later");
  };

  const compared = concurrently(libraries, settings.concurrency, (pair) =>
    compare(pair).catch((error) => fail(pair, error)),
  );
  for await (const _ of compared);
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

/** Long lists are compared in chunks of this size to bound memory; shorter ones in one snapshot. */
const ITEMS_AT_ONCE = 5_000;
const BYTES_AT_ONCE = 8 * 2 ** 20;

/** Takes one library's scenarios while they are read, and compares them with its rows. */
function compareContent({ pool, source, parsers }: CompareTools, listed: ListedLibrary, signal: AbortSignal) {
  const { key } = listed;
  const held = new Map<ScenarioId, Scenario>();
  let bytes = 0;
  const seen = new Set<ScenarioId>();
  const differing = new Map<ScenarioId, ScenarioDifference>();

  const look = <T>(work: (connection: Connection) => Promise<T>) =>
    readSnapshot(pool, "reading a library's rows", work, signal);
  const compareHeld = async (connection: Connection) => {
    const found = await compareScenarioRows({ connection, source, key }, [...held.values()], parsers);
    for (const { id, state, columns } of found) differing.set(id, { id, kind: kindOfState(state), columns });
  };
  const sink: ScenarioSink = {
    async restart() {
      for (const all of [held, seen, differing]) all.clear();
      bytes = 0;
    },
    async add(scenarios) {
      for (const one of scenarios) {
        held.set(one.id, one);
        seen.add(one.id);
        bytes += one.source.length;
      }
      if (held.size < ITEMS_AT_ONCE && bytes < BYTES_AT_ONCE) return;
      await look(compareHeld);
      held.clear();
      bytes = 0;
    },
    async sources(ids) {
      const inMemory = ids.flatMap((id) => held.get(id) ?? []);
      // An item that agreed equals its row. The source of an item that differed was discarded, and it differs anyway.
      const agreed = ids.filter((id) => !held.has(id) && !differing.has(id));
      const stored =
        agreed.length === 0 ? [] : await look((connection) => readScenarioSources({ connection, source, key }, agreed));
      return new Map([...stored, ...inMemory.map((one) => [one.id, one.source] as const)]);
    },
    async remove(id) {
      for (const all of [held, seen, differing]) all.delete(id);
    },
  };
  /** Returns how the rows differ, null if they do not, and the number of compared scenarios. */
  const finish = async ({ metadata, rejects }: ReceivedContent) => {
    // The row of an item that could not be read stays, so its absence from the good ones means nothing.
    const isWhole = rejects.every(({ kind }) => kind !== "scenario");
    const { row, unlisted } = await look(async (connection) => {
      await compareHeld(connection);
      return {
        row: await compareLibraryRow(connection, source, { listed, metadata }, parsers),
        unlisted: isWhole ? await readUnlistedScenarios({ connection, source, key }, seen) : [],
      };
    });
    const scenarios = summarizeScenarios([
      ...differing.values(),
      ...unlisted.map((id) => ({ id, kind: "unlisted" as const, columns: [] })),
    ]);
    const kind = kindOfState(row.state);
    const agrees = kind === "content" && row.columns.length === 0 && scenarios.examples.length === 0;
    const difference = { key, kind, columns: row.columns, ...scenarios, removalHeldAt: null };
    return { difference: agrees ? null : difference, scenarios: seen.size };
  };
  return { sink, finish };
}

const kindOfState = (state: ComparedRow["state"]): DifferenceKind => (state === "live" ? "content" : state);

/** Counts the differences by kind and keeps the first ones as examples. */
export function summarizeScenarios(
  found: readonly ScenarioDifference[],
): Pick<LibraryDifference, "counts" | "examples"> {
  const counts = { missing: 0, removed: 0, unlisted: 0, content: 0 };
  const examples = found.filter(({ kind }) => ++counts[kind] <= MAX_EXAMPLES);
  return { counts, examples };
}
