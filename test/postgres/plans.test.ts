import { expect, onTestFinished, test } from "vitest";
import { withService } from "../../src/cli/connections.ts";
import { loadSettings } from "../../src/cli/load-settings.ts";
import { createClock } from "../../src/db/clock.ts";
import type { Pool } from "../../src/db/connect.ts";
import { pruneUnderLease } from "../../src/db/prune.ts";
import { runSync } from "../../src/sync/run.ts";
import { createContext } from "../support/call-cli.ts";
import { type Fixture, fixture } from "../support/fixture.ts";
import { lowerMemoryLimits } from "../support/memory-limits.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { openPool } from "../support/pool.ts";

const never = new AbortController().signal;
/** Rows of the dominant library: enough for the planner to prefer a table scan to the index. */
const DOMINANT = 200_000;
const range = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly PlanNode[];
}

interface Planned {
  readonly "Query Text": string;
  readonly Plan: PlanNode;
}

/** Small libraries of bob; the server sends the plan of every statement as a notice. */
async function besideDominant(): Promise<Fixture> {
  const made = await fixture(range(60).map((at) => library("bob", `lib ${at}`, { scenarios: range(20) })));
  const name = new URL(made.database.url).pathname.slice(1);
  for (const setting of ["log_min_duration = 0", "log_level = 'notice'", "log_format = 'json'"]) {
    await made.query(`ALTER DATABASE ${name} SET auto_explain.${setting}`);
  }
  await made.query(`ALTER DATABASE ${name} SET session_preload_libraries = 'auto_explain'`);
  for (const table of ["libraries", "scenarios", "library_sync"]) {
    await made.query(`ALTER TABLE simcat.${table} SET (autovacuum_enabled = false)`);
  }
  return made;
}

async function insertDominant({ query }: Fixture): Promise<void> {
  await query(`INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, run_id)
    VALUES ('alice', 'dominant', now(), now(), 1)`);
  // Without its foreign key, which would look up that library once per row.
  await query(`SET session_replication_role = replica;
    INSERT INTO simcat.scenarios (owner, library_name, scenario_id, scenario_name, raw, first_seen_at, changed_at, run_id)
    SELECT 'alice', 'dominant', id, 'Scenario ' || id, '{}', now(), now(), 1 FROM generate_series(1, ${DOMINANT}) AS id;
    RESET session_replication_role`);
}

/** The program's pool, and the plans of the statements that it sent. */
async function openExplained({ database }: Fixture): Promise<{ pool: Pool; plans: Planned[] }> {
  const pool = await openPool(database);
  const plans: Planned[] = [];
  // The first session is already open, without a listener.
  (await pool.connect()).release(true);
  pool.on("connect", (connection) =>
    connection.on("notice", ({ message = "" }) => {
      const json = /\n(\{[\s\S]*\})/.exec(message)?.[1];
      if (json !== undefined) plans.push(JSON.parse(json));
    }),
  );
  return { pool, plans };
}

/** A sync of bob's libraries, within this process. */
async function syncBob(made: Fixture): Promise<{ status: string; plans: Planned[] }> {
  const { pool, plans } = await openExplained(made);
  const context = createContext(made.environment);
  const { mask, version } = context;
  const settings = loadSettings(context, { service: true, database: true, whole: true });
  const clock = await createClock(pool, never);
  const selection = { libraries: [], owners: ["bob"] };
  const request = { kind: "sync", trigger: "cli", selection, allowRemovals: false, restart: false } as const;
  onTestFinished(lowerMemoryLimits({ itemsOfList: 40, itemsAtOnce: 100 }));
  const ignore = () => {};
  const { summary } = await withService(context, settings, ignore, (service) =>
    runSync({ pool, clock, service, settings, version, mask, onEvent: ignore }, request, never),
  );
  return { status: summary.status, plans };
}

/**
 * Changed, new and removed scenarios; a list that shrinks over the limit; a list that passes through the staging table. The next
 * edit has the lists as they were at first, so that another list shrinks.
 */
function editAll({ service }: Fixture, edit: number): void {
  const isOdd = edit % 2 === 1;
  for (const at of range(60)) {
    const ids = at === 7 ? [1] : at === 8 ? range(60) : range(25).slice(2);
    const [first = 1, ...rest] = isOdd ? ids : range(20);
    service.change("bob", `lib ${at}`, {
      lastModified: `${NEWER}${" ".repeat(edit)}`,
      scenarios: [scenario(first, { scenarioName: `renamed ${edit}` }), ...rest.map((id) => scenario(id))],
    });
  }
}

/** Nodes that read the whole table: scans without an index condition. */
function wholeReads({ Plan, "Query Text": text }: Planned, table: string): string[] {
  const found: string[] = [];
  const visit = (node: PlanNode) => {
    const { "Node Type": type, "Relation Name": relation } = node;
    const isWhole = type === "Seq Scan" || (/^Index (Only )?Scan/.test(type) && node["Index Cond"] === undefined);
    if (isWhole && relation === table) found.push(`${type} on ${relation}: ${text}`);
    node.Plans?.forEach(visit);
  };
  visit(Plan);
  return found;
}

/** Edits and syncs bob's libraries, and expects that no batch reads the whole table of scenarios. */
async function expectByKey(made: Fixture, settings: Readonly<Record<string, string>>, edit: number): Promise<void> {
  const name = new URL(made.database.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(settings)) {
    await made.query(`ALTER DATABASE ${name} SET ${setting} = '${value}'`);
  }
  editAll(made, edit);
  const { status, plans } = await syncBob(made);
  for (const setting of Object.keys(settings)) await made.query(`ALTER DATABASE ${name} RESET ${setting}`);

  // One list shrank over the limit.
  expect(status).toBe("partial");
  const ofBatches = plans.filter((one) => one["Query Text"].includes("unnest("));
  for (const statement of ["INSERT INTO simcat.scenarios", "INSERT INTO simcat.scenario_absences"]) {
    expect(ofBatches.filter((one) => one["Query Text"].includes(statement))).not.toEqual([]);
  }
  expect({ settings, reads: ofBatches.flatMap((one) => wholeReads(one, "scenarios")) }).toEqual({
    settings,
    reads: [],
  });
}

test("stores small libraries by key when another one has most rows, with any statistics and settings (fault 87)", async () => {
  const made = await besideDominant();
  expect(await syncBob(made)).toMatchObject({ status: "ok" });
  await insertDominant(made);
  await expectByKey(made, {}, 1);
  await made.query("ANALYZE simcat.scenarios, simcat.libraries, simcat.library_sync");
  await expectByKey(made, {}, 2);
  await expectByKey(made, { plan_cache_mode: "force_generic_plan" }, 3);
  await expectByKey(made, { enable_nestloop: "off", enable_indexscan: "off" }, 4);
});

test("stores and prunes small libraries by key with statistics of the dominant library only (fault 87)", async () => {
  const made = await besideDominant();
  await insertDominant(made);
  await made.query("ANALYZE simcat.scenarios");
  expect(await syncBob(made)).toMatchObject({ status: "ok" });
  await expectByKey(made, {}, 1);
  await made.query("UPDATE simcat.libraries SET removed_at = now() - interval '2 days' WHERE owner = 'bob'");
  const { pool, plans } = await openExplained(made);
  const cutoff = new Date(Date.now() - 86_400_000);

  const pruned = await pruneUnderLease(pool, { cutoff, events: true }, () => {}, never);

  expect(pruned).toMatchObject({ libraries: 60, scenarios: 1530 });
  const ofLibraries = plans.filter((one) => one["Query Text"].includes("DELETE FROM simcat.libraries"));
  expect(ofLibraries).not.toEqual([]);
  expect(ofLibraries.flatMap((one) => wholeReads(one, "scenarios"))).toEqual([]);
});
