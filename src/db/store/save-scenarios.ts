import { DatabaseError } from "../../errors.ts";
import type { LibraryContent, Withheld } from "../../model.ts";
import type { Connection } from "../connect.ts";
import { int4Array } from "./binary-arrays.ts";
import { isPartial, type SaveContext, scenarioCount } from "./library-content.ts";
import { toColumns } from "./scenario-rows.ts";
import {
  countConfirmed,
  DELETE_ABSENCES,
  deletePresentAbsences,
  insertAbsences,
  insertScenarios,
  mergeScenarios,
  removeMissing,
  type Source,
} from "./scenario-statements.ts";

export interface ScenarioCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly removed: number;
  readonly withheld: Withheld | null;
  /** Scenarios of the library that are not marked as removed now, and how many of them are results. */
  readonly scenarioCount: number;
  readonly resultCount: number;
}

/** Libraries whose scenarios come from one place, as the parameters of the statements. */
interface Group {
  readonly libraries: readonly LibraryContent[];
  readonly source: Source;
  readonly keys: readonly [owners: string[], names: string[]];
  readonly columns: readonly unknown[];
  readonly ids: readonly unknown[];
}

const NO_SCENARIOS: ScenarioCounts = {
  inserted: 0,
  updated: 0,
  unchanged: 0,
  removed: 0,
  withheld: null,
  scenarioCount: 0,
  resultCount: 0,
};

/** Stores the scenarios of these libraries, and marks those that vanished. Answers by position. */
export async function saveScenarios(
  connection: Connection,
  libraries: readonly LibraryContent[],
  context: SaveContext,
): Promise<Map<LibraryContent, ScenarioCounts>> {
  const counts = new Map<LibraryContent, ScenarioCounts>();
  const save = async (some: readonly LibraryContent[], store: typeof insertNew | typeof mergeStored) => {
    if (some.length === 0) return;
    const found = await store(connection, toGroup(some, context), context);
    some.forEach((one, at) => {
      counts.set(one, found[at] ?? NO_SCENARIOS);
    });
  };
  const inMemory = libraries.filter((one) => one.scenarios.kind === "memory");
  await save(
    inMemory.filter((one) => one.kind === "new"),
    insertNew,
  );
  await save(
    inMemory.filter((one) => one.kind !== "new"),
    mergeStored,
  );
  for (const one of libraries) {
    if (one.scenarios.kind !== "staged") continue;
    await save([one], one.kind === "new" ? insertNew : mergeStored);
    assertWhole(one, counts.get(one) ?? NO_SCENARIOS);
  }
  return counts;
}

/** Sends the statements without a row. */
export async function saveNoScenarios(connection: Connection, context: SaveContext): Promise<void> {
  const group = toGroup([], context);
  await insertNew(connection, group, context);
  await mergeStored(connection, group, context);
  const { keys, ids, source } = group;
  const statements = [removeMissing(source), insertAbsences(source)];
  for (const text of statements) await connection.query(text, [...keys, context.runId, ...ids, []]);
  await connection.query(DELETE_ABSENCES, [...keys, context.runId]);
}

function toGroup(libraries: readonly LibraryContent[], { microseconds }: SaveContext): Group {
  const keys = [libraries.map((one) => one.listed.key.owner), libraries.map((one) => one.listed.key.name)] as const;
  const only = libraries[0]?.scenarios;
  if (only?.kind === "staged") {
    return { libraries, keys: [...keys], source: "staging", columns: [only.stage], ids: [only.stage] };
  }
  const lists = libraries.map((one) => (one.scenarios.kind === "memory" ? one.scenarios.scenarios : []));
  const positions = int4Array(lists.flatMap((list, at) => list.map(() => at + 1)));
  const columns = toColumns(lists.flat(), microseconds);
  return {
    libraries,
    keys: [...keys],
    source: "arrays",
    columns: [positions, ...columns],
    ids: [positions, columns[0]],
  };
}

async function insertNew(connection: Connection, group: Group, { runId }: SaveContext): Promise<ScenarioCounts[]> {
  const { libraries, source, keys, columns } = group;
  const values = [...keys, runId, ...columns];
  const { rows } = await connection.query<{ ord: number; inserted: number; results: number }>(
    insertScenarios(source),
    values,
  );
  const found = new Map(rows.map((row) => [row.ord, row]));
  return libraries.map((_, at) => {
    const { inserted = 0, results = 0 } = found.get(at + 1) ?? {};
    return { ...NO_SCENARIOS, inserted, scenarioCount: inserted, resultCount: results };
  });
}

/** What merging one library's list found; `live` before it, and how many of those the list lacks. */
interface Merged extends Pick<ScenarioCounts, "inserted" | "updated" | "unchanged"> {
  readonly live: number;
  readonly missing: number;
  /** Live after it, before anything is marked as removed. */
  readonly scenarios: number;
  readonly results: number;
}

const NOTHING: Merged = { inserted: 0, updated: 0, unchanged: 0, live: 0, missing: 0, scenarios: 0, results: 0 };

async function mergeStored(connection: Connection, group: Group, context: SaveContext): Promise<ScenarioCounts[]> {
  const { rows } = await connection.query<Merged & { ord: number }>(mergeScenarios(group.source), [
    ...group.keys,
    context.runId,
    ...group.columns,
  ]);
  const found = new Map(rows.map(({ ord, ...merged }) => [ord, merged]));
  const merged = group.libraries.map((_, at) => found.get(at + 1) ?? NOTHING);
  const vanished = await removeVanished(connection, group, merged, context);
  return merged.map(({ inserted, updated, unchanged, scenarios, results }, at) => {
    const { removed, removedResults, withheld } = vanished[at] ?? NONE_VANISHED;
    const counts = { scenarioCount: scenarios - removed, resultCount: results - removedResults };
    return { inserted, updated, unchanged, removed, withheld, ...counts };
  });
}

interface Vanished extends Pick<ScenarioCounts, "removed" | "withheld"> {
  readonly removedResults: number;
}

const NONE_VANISHED: Vanished = { removed: 0, removedResults: 0, withheld: null };

/** Marks what whole lists lack, as far as the guard lets it; what it withholds is remembered for the next read. */
async function removeVanished(
  connection: Connection,
  group: Group,
  merged: readonly Merged[],
  context: SaveContext,
): Promise<Vanished[]> {
  const { source, keys, ids, libraries } = group;
  const confirmed = merged.some((one) => one.missing > 0)
    ? await connection.query<{ ord: number; confirmed: number }>(countConfirmed(source), [
        ...keys,
        context.runId,
        ...ids,
      ])
    : { rows: [] };
  const confirmedOf = new Map(confirmed.rows.map((row) => [row.ord, row.confirmed]));
  const decided = libraries.map((one, at) => {
    const { live, missing } = merged[at] ?? NOTHING;
    if (missing === 0 || isPartial(one)) return { mark: "none", withheld: null };
    const unconfirmed = missing - (confirmedOf.get(at + 1) ?? 0);
    const verdict = context.guard({ live, listed: scenarioCount(one), missing: unconfirmed });
    if (verdict === "mark" || unconfirmed === 0) return { mark: "all", withheld: null };
    return { mark: "confirmed", withheld: { live, missing: unconfirmed } };
  });

  const removed = new Map<number, Pick<Vanished, "removed" | "removedResults">>();
  if (decided.some((one) => one.mark !== "none")) {
    const marks = decided.map((one) => one.mark);
    const { rows } = await connection.query<{ ord: number; removed: number; results: number }>(removeMissing(source), [
      ...keys,
      context.runId,
      ...ids,
      marks,
    ]);
    for (const row of rows) removed.set(row.ord, { removed: row.removed, removedResults: row.results });
  }
  await rememberAbsences(
    connection,
    group,
    context.runId,
    decided.map((one) => one.withheld !== null),
  );
  return decided.map(({ withheld }, at) => ({ ...NONE_VANISHED, ...removed.get(at + 1), withheld }));
}

/** A whole read settles what earlier reads left open; a withheld one leaves what it lacks for the next. */
async function rememberAbsences(
  connection: Connection,
  group: Group,
  runId: number,
  withheld: readonly boolean[],
): Promise<void> {
  const stale = group.libraries.filter((one) => one.hadAbsences && !isPartial(one));
  if (stale.length > 0) {
    await connection.query(DELETE_ABSENCES, [
      stale.map((one) => one.listed.key.owner),
      stale.map((one) => one.listed.key.name),
      runId,
    ]);
  }
  if (group.libraries.some((one) => one.hadAbsences && isPartial(one))) {
    await connection.query(deletePresentAbsences(group.source), [...group.keys, runId, ...group.ids]);
  }
  if (!withheld.includes(true)) return;
  await connection.query(insertAbsences(group.source), [...group.keys, runId, ...group.ids, withheld]);
}

/** The staging table is not logged: a crash of the server empties it, and that must not be taken for an empty list. */
function assertWhole(one: LibraryContent, { inserted, updated, unchanged }: ScenarioCounts): void {
  const found = inserted + updated + unchanged;
  if (found === scenarioCount(one)) return;
  throw new DatabaseError(
    `storing a long scenario list failed: the staging table holds ${found} of its ${scenarioCount(one)} scenarios, so the server was restarted meanwhile; run it again`,
  );
}
