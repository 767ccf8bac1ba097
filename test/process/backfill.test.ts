import { expect, test } from "vitest";
import { InterruptedError } from "../../src/errors.ts";
import { callCli } from "../support/call-cli.ts";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { type Gate, gateAfter } from "./gate.ts";
import { serviceRows, storedRows } from "./service-rows.ts";

const CONTENT = /^GET \/libs\/user\//;
const libraries = () => Array.from({ length: 12 }, (_, at) => library("alice", `Lib ${at}`, { scenarios: [1, 2] }));

/** A complete copy, and a backfill that was stopped after it had read some libraries again. */
async function interrupted(
  passing = 9,
  before: (made: Fixture) => Promise<string[]> = async () => ["backfill"],
): Promise<Fixture & { readonly gate: Gate; readonly left: number }> {
  let gate: Gate | null = null;
  const made = await syncedFixture(libraries(), { onRequest: (request) => gate?.onRequest(request) });
  const command = await before(made);
  gate = gateAfter(passing);
  const stop = new AbortController();
  const running = callCli(command, { ...made.environment, SIMCAT_CONCURRENCY: "2" }, stop.signal);
  await gate.reached;
  stop.abort(new InterruptedError("SIGTERM"));
  expect((await running).code).toBe(143);
  gate.open();
  made.asked();
  const [run] = await made.query<{ read: number }>(
    "SELECT libraries_read AS read FROM simcat.sync_runs WHERE status = 'interrupted'",
  );
  return { ...made, gate, left: 12 - (run?.read ?? 0) };
}

test("an interrupted backfill is continued: the next one reads only what is left (fault 65)", async () => {
  const { call, query, asked, left } = await interrupted();

  expect((await call(["backfill"])).code).toBe(0);

  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(12);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(2 * left);
  expect(
    await query(
      `SELECT status, libraries_read, libraries_changed, backfill_since = min(backfill_since) OVER () AS same_start FROM simcat.sync_runs
       WHERE kind = 'backfill' ORDER BY id`,
    ),
  ).toEqual([
    { status: "interrupted", libraries_read: 12 - left, libraries_changed: 0, same_start: true },
    { status: "ok", libraries_read: left, libraries_changed: 0, same_start: true },
  ]);
  expect((await call(["backfill"])).code).toBe(0);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(24);
});

test("a held backfill that reads nothing leaves the interrupted one to be continued (fault 189)", async () => {
  const { call, asked, left, service, query } = await interrupted();
  const own = libraries();
  const unread = await query<{ name: string }>(
    "SELECT library_name AS name FROM simcat.library_sync ORDER BY content_read_at LIMIT $1",
    [left],
  );
  service.edit((organization) => {
    for (const { name } of unread) organization.remove("alice", name);
  });
  expect((await call(["backfill"])).code).toBe(3);
  expect(asked().filter((line) => CONTENT.test(line))).toEqual([]);
  service.edit((organization) => {
    for (const one of own) organization.put(one);
  });

  expect((await call(["backfill"])).code).toBe(0);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(2 * left);
});

test("--restart restarts an interrupted backfill (fault 65)", async () => {
  const { call, asked } = await interrupted();

  expect((await call(["backfill", "--restart"])).code).toBe(0);

  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(24);
});

/** A copy in which another program altered every scenario, and a `--restart` that was stopped midway. */
async function altered() {
  const made = await interrupted(9, async ({ query }) => {
    await query("UPDATE simcat.scenarios SET scenario_name = 'altered'");
    return ["backfill", "--restart"];
  });
  const countAltered = async () => {
    const sql = "SELECT count(*)::int AS altered FROM simcat.scenarios WHERE scenario_name = 'altered'";
    return (await made.query<{ altered: number }>(sql))[0]?.altered;
  };
  return { ...made, countAltered };
}

test("an interrupted --restart is continued as one: the next backfill compares the rest too (fault 75)", async () => {
  const { call, asked, left, countAltered } = await altered();
  expect(await countAltered()).toBe(2 * left);

  expect((await call(["backfill"])).code).toBe(0);

  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(2 * left);
  expect(await countAltered()).toBe(0);
});

test("a sync after an interrupted --restart compares every row of the libraries it reads (fault 75)", async () => {
  const { call, query, asked, countAltered } = await altered();
  await query("UPDATE simcat.library_sync SET reread_reason = 'restored'");

  expect((await call(["sync"])).code).toBe(0);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(24);
  expect(await countAltered()).toBe(0);

  await query("UPDATE simcat.library_sync SET reread_reason = 'restored'");
  await query("UPDATE simcat.scenarios SET scenario_name = 'altered'");
  expect((await call(["sync"])).code).toBe(0);
  expect(await countAltered()).toBe(24);
});

test("a backfill of another scope does not continue it, but a later one of the same scope does (fault 65)", async () => {
  const { call, asked, left } = await interrupted();

  expect((await call(["backfill", "--library", "alice/Lib 0"])).code).toBe(0);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(2);
  expect((await call(["backfill"])).code).toBe(0);

  expect(asked().filter((line) => CONTENT.test(line)).length).toBeLessThanOrEqual(2 * left);
});

test("a backfill interrupted longer ago than SIMCAT_FULL_EVERY restarts, a recent one does not (fault 65)", async () => {
  const { call, query, asked, left } = await interrupted();
  await query(
    `UPDATE simcat.sync_runs SET backfill_since = backfill_since - interval '2 days' WHERE backfill_since IS NOT NULL`,
  );

  expect((await call(["backfill", "--library", "alice/Lib 0"])).code).toBe(0);
  asked();
  expect((await call(["backfill"], { SIMCAT_FULL_EVERY: "47h" })).code).toBe(0);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(24);

  await query(`UPDATE simcat.sync_runs SET status = 'interrupted' WHERE id = (SELECT max(id) FROM simcat.sync_runs)`);
  expect((await call(["backfill"], { SIMCAT_FULL_EVERY: "49h" })).code).toBe(0);
  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(0);
  expect(left).toBeLessThan(12);
});

test("a backfill interrupted under a clock that was ahead restarts under the right clock (fault 65)", async () => {
  const { call, query } = await interrupted();
  await query(
    `UPDATE simcat.sync_runs SET backfill_since = backfill_since + interval '1 year' WHERE backfill_since IS NOT NULL`,
  );

  expect((await call(["backfill"])).code).toBe(0);

  expect(await query("SELECT backfill_since < now() AS past FROM simcat.sync_runs ORDER BY id DESC LIMIT 1")).toEqual([
    { past: true },
  ]);
});

test("changes made after an interrupted backfill are read and not overwritten by older ones (fault 65)", async () => {
  const { call, query, service, asked } = await interrupted();
  for (const { name } of service.organization.libraries()) {
    service.change("alice", name, { lastModified: "2024-01-02 at 3:04 PM", description: "newer" });
  }
  expect((await call(["sync"])).code).toBe(0);
  asked();

  expect((await call(["backfill"])).code).toBe(0);

  expect(asked().filter((line) => CONTENT.test(line))).toHaveLength(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});
