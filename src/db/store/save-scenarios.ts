import { DatabaseError } from "../../errors.ts";
import { formatCount } from "../../format.ts";
import type { LibraryContent, SavedScenarios, ScenarioSet, Withheld } from "../../model.ts";
import type { TextParsers } from "../../parse-values.ts";
import type { Connection } from "../connect.ts";
import { scenarios } from "../schema.ts";
import { byPosition, int8Array, keyArrays, statement } from "../statement.ts";
import {
  allNamesOf,
  namesBy,
  namesOf,
  nextVersionStart,
  prefixed,
  scenarioColumns,
  setExcluded,
  supersede,
  toArrays,
  unnest,
} from "./columns.ts";
import { differencesSql, IS_INITIAL, SCENARIO_EVENT } from "./event-sql.ts";

/** The facts and rules that storing needs beyond the content. */
export interface SaveContext {
  readonly runId: number;
  readonly parsers: TextParsers;
  /** Decides whether the live scenarios that a whole list lacks may be marked as removed. */
  readonly guard: (numbers: { live: number; listed: number; missing: number }) => "mark" | "withhold";
}

/** A library with the counts of its merged list. */
type MergedList = readonly [LibraryContent, MergedScenarios];

/** Stores the scenarios of these libraries, whose own rows are stored, and marks those as removed that their lists lack. */
export async function saveScenarios(
  connection: Connection,
  libraries: readonly LibraryContent[],
  context: SaveContext,
): Promise<Map<LibraryContent, SavedScenarios>> {
  const staged = libraries.filter(({ scenarios }) => scenarios.kind === "staged");
  const inMemory = libraries.filter(({ scenarios }) => scenarios.kind === "memory");
  const saved = new Map<LibraryContent, SavedScenarios>();
  for (const batch of [inMemory, ...staged.map((one) => [one])]) {
    if (batch.length === 0) continue;
    const lists = toScenarioLists(batch, context);
    const { rows } = await connection.query<MergedScenarios>(MERGE_SCENARIOS[lists.location](lists.parameters));
    const merged = byPosition(batch, rows);
    for (const list of merged) assertComplete(list);
    const marked = await markMissing(connection, lists, merged, context.guard);
    for (const [[library, counts], { removed, removedResults, withheld }] of byPosition(merged, marked)) {
      const { inserted, updated, unchanged, scenarios, results } = counts;
      const left = { scenarioCount: scenarios - removed, resultCount: results - removedResults };
      saved.set(library, { inserted, updated, unchanged, removed, withheld, ...left });
    }
  }
  return saved;
}

/** The parameters of the statements about one library with a staged list, or about libraries whose lists are in memory. */
function toScenarioLists(libraries: readonly LibraryContent[], { runId, parsers }: SaveContext) {
  const keys = { ...keyArrays(libraries.map(({ listed }) => listed.key)), run_id: runId };
  const first = libraries[0]?.scenarios;
  if (first?.kind === "staged") return { location: first.kind, parameters: { ...keys, stage: first.stage } };
  const lists = libraries.map(({ scenarios }) => (scenarios.kind === "memory" ? scenarios.scenarios : []));
  const ord = int8Array(lists.flatMap((list, index) => list.map(() => index + 1)));
  const arrays = toArrays(scenarioColumns, lists.flat(), parsers);
  return { location: "memory" as const, parameters: { ...keys, ord, ...arrays } };
}

/** A crash of the server empties the unlogged staging table; the list must not be taken for an empty or shorter one. */
function assertComplete([{ scenarios }, { inserted, updated, unchanged }]: MergedList): void {
  const found = inserted + updated + unchanged;
  if (scenarios.kind === "memory" || found === scenarios.count) return;
  throw new DatabaseError(
    `storing a long scenario list failed: the staging table holds ${formatCount(found)} of its ${formatCount(scenarios.count)} scenarios, probably because the server was restarted; run it again`,
  );
}

/**
 * Marks scenarios as removed that whole lists lack, as far as the guard permits, and saves the others as absences for the
 * next read. For each list returns how many were removed, how many of them are results, and what was withheld.
 */
async function markMissing(
  connection: Connection,
  { location, parameters }: ReturnType<typeof toScenarioLists>,
  merged: readonly MergedList[],
  guard: SaveContext["guard"],
) {
  const decisions = merged.map((list) => decideMissing(list, guard));
  let removals = decisions.map(() => ({ removed: 0, removedResults: 0 }));
  const hasMissing = decisions.some(({ mark, withheld }) => mark !== "none" || withheld !== null);
  if (hasMissing || merged.some(([{ before }]) => before?.hasAbsences)) {
    const marks = decisions.map(({ mark }) => mark);
    const withheld = decisions.map((decision) => decision.withheld !== null);
    const whole = merged.map(([{ isPartial }]) => !isPartial);
    removals = (await connection.query(MARK_MISSING[location]({ ...parameters, marks, withheld, whole }))).rows;
  }
  return byPosition(decisions, removals).map(([{ withheld }, removal]) => ({ ...removal, withheld }));
}

/** Which of the missing scenarios are marked as removed. The others become absences if the removal is withheld. */
function decideMissing(
  [library, { live, missing, confirmed }]: MergedList,
  guard: SaveContext["guard"],
): { readonly mark: "all" | "confirmed" | "none"; readonly withheld: Withheld | null } {
  if (missing === 0 || library.isPartial) return { mark: "none", withheld: null };
  // A cache may have answered with the same old list again.
  const isSuspect = library.suspectReads > 0;
  const unconfirmed = isSuspect ? missing : missing - confirmed;
  const verdict = guard({ live, listed: library.scenarios.count, missing: unconfirmed });
  if (verdict === "mark" || unconfirmed === 0) return { mark: "all", withheld: null };
  return { mark: isSuspect ? "none" : "confirmed", withheld: { live, missing: unconfirmed } };
}

/*
 * The statements take the libraries of a batch as `$owner` and `$library_name`, one element for each library, and the run as
 * `$run_id`. They return one row for each library, in their order.
 *
 * The planner expects one row for an owner and name, so left to itself it loops over a whole library for each row. If one
 * library has most of the rows, it expects all of them and scans the table for each batch. Both are slow. The statements leave
 * it no such choice: a stored row is written by its whole key (ON CONFLICT), the stored rows of a library are looked up library
 * by library (LATERAL … OFFSET 0), and a FULL JOIN, which never loops, matches them with the scenarios that were read.
 */

const SCENARIO_KEY = "owner, library_name, scenario_id";
const SCENARIO_COLUMNS = allNamesOf(scenarios);
const SCENARIO_VERSIONED = namesBy("version", scenarioColumns);
const SCENARIO_IN_PLACE = namesBy("in place", scenarioColumns);
const SCENARIO_STORED = [...SCENARIO_VERSIONED, ...SCENARIO_IN_PLACE];
const NULL_FOR_ZERO = namesOf(scenarioColumns.filter((column) => column.zeroIsNull));

/** The value of a versioned field: 0 for a parent means none. */
const fieldSql = (field: string, row: string) =>
  NULL_FOR_ZERO.includes(field) ? `nullif(${row}.${field}, 0)` : `${row}.${field}`;

/** The values that make two rows different versions. */
const versionOf = (row: string) => SCENARIO_VERSIONED.map((name) => fieldSql(name, row)).join(", ");
const inPlaceOf = (row: string) => prefixed(row, [...NULL_FOR_ZERO, ...SCENARIO_IN_PLACE]);

/** Whether a row is a result: its flag says so, or it has no flag and a parent. */
const isResultSql = (row: string) => `coalesce(${row}.is_result, nullif(${row}.parent_id, 0) IS NOT NULL)`;

/** Whether the read of an earlier run lacked this scenario of the library `lib` too. */
const lackedBeforeSql = (scenario: string) => `EXISTS (
    SELECT FROM simcat.scenario_absences a
    WHERE (a.owner, a.library_name, a.scenario_id) = (lib.owner, lib.library_name, ${scenario}.scenario_id)
      AND a.run_id <> $run_id::int8)`;

const LIB =
  "lib AS (SELECT * FROM unnest($owner::text[], $library_name::text[]) WITH ORDINALITY AS l(owner, library_name, ord))";

/** The stored rows of each library of the batch, as the column `old`. */
const eachStored = (condition = "") => `
  lib CROSS JOIN LATERAL (
    SELECT s AS old FROM simcat.scenarios s
    WHERE (s.owner, s.library_name) = (lib.owner, lib.library_name)${condition} OFFSET 0
  ) AS stored`;

/** One library's list, merged with its stored scenarios. */
interface MergedScenarios {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Live scenarios that were stored, those of them that the list lacks, and those that an earlier read lacked too. */
  readonly live: number;
  readonly missing: number;
  readonly confirmed: number;
  /** Live scenarios after the merge, before any is marked as removed, and the results among them. */
  readonly scenarios: number;
  readonly results: number;
}

/** A statement for each location: arrays (a batch of libraries in memory) or the staging table (one long list). */
const perLocation = (sqlFor: (location: ScenarioSet["kind"]) => string) => ({
  memory: statement(sqlFor("memory")),
  staged: statement(sqlFor("staged")),
});

const ORD = { name: "ord", type: { name: "int8" } } as const;

/** These columns of the scenarios that were read, with the position of their library. */
const readColumns = (columns: typeof scenarioColumns) => ({
  memory: `SELECT * FROM ${unnest([ORD, ...columns])} AS r(ord, ${namesOf(columns).join(", ")})`,
  staged: `SELECT 1 AS ord, ${namesOf(columns).join(", ")} FROM simcat.scenario_staging WHERE stage = $stage`,
});
const READ = readColumns(scenarioColumns);
const READ_IDS = readColumns(scenarioColumns.filter(({ change }) => change === "key"));

/**
 * Stores the scenarios of libraries, supersedes those that differ into history, and returns `MergedScenarios` for each library.
 * Under IS_INITIAL, new scenarios are initial content until the first whole read is stored, because rejects may have kept them back.
 * The initial content of a library that this transaction stored first has no events here: the event of the library counts it.
 * MATERIALIZED stops the planner from pushing a filter into the join and choosing a nested loop.
 */
export const MERGE_SCENARIOS = perLocation(
  (location) => `
WITH ${LIB}, loading AS (
  SELECT ord, l.first_seen_at = now() AS is_first
  FROM lib JOIN simcat.libraries l USING (owner, library_name) JOIN simcat.library_sync y USING (owner, library_name)
  WHERE (l.first_seen_at = now() OR y.last_success_at IS NULL) AND ${IS_INITIAL}
), matched AS MATERIALIZED (
  SELECT ord, scenario_id, r.owner, r.library_name, ${prefixed("r", SCENARIO_STORED)}, r.owner IS NOT NULL AS is_read,
    CASE WHEN r.owner IS NOT NULL THEN s.old END AS old,
    (s.old).owner IS NOT NULL AND (s.old).removed_at IS NULL AS is_live, (s.old).owner IS NULL AS is_new,
    ${isResultSql("(s.old)")} AS is_old_result,
    (s.old).owner IS NULL OR (s.old).removed_at IS NOT NULL
      OR (${versionOf("r")}) IS DISTINCT FROM (${versionOf("(s.old)")}) AS changed,
    (${inPlaceOf("r")}) IS DISTINCT FROM (${inPlaceOf("(s.old)")}) AS in_place
  FROM (SELECT lib.owner, lib.library_name, r.* FROM (${READ[location]}) AS r JOIN lib USING (ord)) AS r
  FULL JOIN (
    SELECT lib.ord, (stored.old).scenario_id, stored.old FROM ${eachStored()}
  ) AS s USING (ord, scenario_id)
), superseded AS (${supersede("scenario", SCENARIO_COLUMNS, "(d.old)", "matched d WHERE d.is_read AND d.changed AND NOT d.is_new")}
), written AS (
  INSERT INTO simcat.scenarios (${SCENARIO_KEY}, ${SCENARIO_STORED.join(", ")}, first_seen_at, changed_at, removed_at, run_id)
  SELECT ${SCENARIO_KEY}, ${SCENARIO_STORED.join(", ")}, now(),
    CASE WHEN is_new THEN now() WHEN changed THEN ${nextVersionStart("(old)")} ELSE (old).changed_at END, NULL,
    CASE WHEN changed THEN $run_id::int8 ELSE (old).run_id END
  FROM matched WHERE is_read AND (changed OR in_place)
  ON CONFLICT (${SCENARIO_KEY}) DO UPDATE SET ${setExcluded([...SCENARIO_STORED, "changed_at", "removed_at", "run_id"])}
), happened AS (
  INSERT INTO simcat.events (${SCENARIO_EVENT}, fields, old_values, new_values)
  SELECT CASE WHEN is_new THEN now() ELSE ${nextVersionStart("(old)")} END, $run_id::int8,
    CASE WHEN is_new AND ord IN (SELECT ord FROM loading) THEN 'loaded' WHEN is_new THEN 'added' WHEN is_live THEN 'changed' ELSE 'returned' END,
    new.owner, new.library_name,
    scenario_id, scenario_name, ${fieldSql("parent_id", "new")}, ${isResultSql("new")}, last_modified_at,
    0, (NOT is_live)::int4, (${isResultSql("new")})::int4 - (is_live AND is_old_result)::int4, fields, old_values, new_values
  FROM matched new CROSS JOIN LATERAL ${differencesSql(SCENARIO_VERSIONED, fieldSql)} AS d
  WHERE is_read AND changed AND ord NOT IN (SELECT ord FROM loading WHERE is_first)
)
SELECT count(*) FILTER (WHERE is_new) AS inserted,
  count(*) FILTER (WHERE is_read AND NOT is_new AND changed) AS updated,
  count(*) FILTER (WHERE is_read AND NOT changed) AS unchanged,
  count(*) FILTER (WHERE is_live) AS live, count(*) FILTER (WHERE is_live AND NOT is_read) AS missing,
  count(*) FILTER (WHERE is_live AND NOT is_read AND ${lackedBeforeSql("matched")}) AS confirmed,
  count(*) FILTER (WHERE is_read OR is_live) AS scenarios,
  count(*) FILTER (WHERE CASE WHEN is_read THEN ${isResultSql("matched")} ELSE is_live AND is_old_result END) AS results
FROM lib LEFT JOIN matched USING (ord) GROUP BY ord ORDER BY ord`,
);

const REMOVAL = ["changed_at", "removed_at", "run_id"];
const KEPT = SCENARIO_COLUMNS.filter((name) => !REMOVAL.includes(name));

/**
 * Marks live scenarios that the read lacks as removed. `$marks` has a word for each library: `all`, only the `confirmed` ones, or
 * `none`. The others are recorded as absences if `$withheld` is true. A `$whole` read deletes all other absences that earlier runs
 * recorded. A partial read deletes only those of scenarios that are listed again. MATERIALIZED: as in MERGE_SCENARIOS.
 */
export const MARK_MISSING = perLocation(
  (location) => `
WITH ${LIB}, matched AS MATERIALIZED (
  SELECT ord, scenario_id, r.is_read, CASE WHEN r.is_read IS NULL THEN l.old END AS old
  FROM (SELECT i.*, true AS is_read FROM (${READ_IDS[location]}) AS i) AS r
  FULL JOIN (
    SELECT lib.ord, (stored.old).scenario_id, stored.old FROM ${eachStored(" AND s.removed_at IS NULL")}
  ) AS l USING (ord, scenario_id)
), missing AS MATERIALIZED (
  SELECT m.ord, lib.owner, lib.library_name, m.scenario_id, m.old,
    CASE ($marks::text[])[lib.ord] WHEN 'all' THEN true WHEN 'confirmed' THEN ${lackedBeforeSql("m")} ELSE false END AS is_gone
  FROM matched m JOIN lib USING (ord) WHERE m.is_read IS NULL
), gone AS (
  SELECT ord, old FROM missing WHERE is_gone
), superseded AS (${supersede("scenario", SCENARIO_COLUMNS, "(d.old)", "gone d")}
), written AS (
  INSERT INTO simcat.scenarios (${[...KEPT, ...REMOVAL].join(", ")})
  SELECT ${prefixed("(d.old)", KEPT)}, ${nextVersionStart("(d.old)")}, ${nextVersionStart("(d.old)")}, $run_id::int8 FROM gone d
  ON CONFLICT (${SCENARIO_KEY}) DO UPDATE SET ${setExcluded(REMOVAL)}
), happened AS (
  INSERT INTO simcat.events (${SCENARIO_EVENT})
  SELECT ${nextVersionStart("(d.old)")}, $run_id::int8, 'removed', ${prefixed("(d.old)", ["owner", "library_name", "scenario_id", "scenario_name"])},
    nullif((d.old).parent_id, 0), ${isResultSql("(d.old)")}, (d.old).last_modified_at, 0, -1, -(${isResultSql("(d.old)")})::int4
  FROM gone d
), absent AS (
  INSERT INTO simcat.scenario_absences (${SCENARIO_KEY}, run_id)
  SELECT owner, library_name, scenario_id, $run_id::int8 FROM missing m WHERE NOT is_gone AND ($withheld::bool[])[m.ord]
  ON CONFLICT (${SCENARIO_KEY}) DO UPDATE SET run_id = excluded.run_id
), settled AS (
  DELETE FROM simcat.scenario_absences a USING lib
  WHERE (a.owner, a.library_name) = (lib.owner, lib.library_name) AND a.run_id <> $run_id::int8
    AND CASE WHEN ($whole::bool[])[ord]
      THEN NOT (($withheld::bool[])[ord] AND EXISTS (SELECT FROM missing m WHERE (m.ord, m.scenario_id) = (lib.ord, a.scenario_id) AND NOT is_gone))
      ELSE EXISTS (SELECT FROM matched m WHERE (m.ord, m.scenario_id) = (lib.ord, a.scenario_id) AND m.is_read) END
)
SELECT count(gone.ord) AS removed, count(*) FILTER (WHERE ${isResultSql("(gone.old)")}) AS "removedResults"
FROM lib LEFT JOIN gone USING (ord) GROUP BY ord ORDER BY ord`,
);
