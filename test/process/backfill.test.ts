import { expect, test } from "vitest";
import type { Fixture } from "../support/fixture.ts";
import { changeAll, numbered } from "../support/organization.ts";
import { serviceRows, storedRows } from "./service-rows.ts";
import { waitingRun } from "./waiting-run.ts";

/** A complete copy of twelve libraries, and a backfill that was stopped after it had read some of them again. */
async function interrupted(prepare: (made: Fixture) => Promise<string[]> = async () => ["backfill"]) {
  const made = await waitingRun(numbered(12), 9, prepare);
  await made.interrupt();
  const read = Number(await made.lines("SELECT libraries_read FROM simcat.sync_runs WHERE status = 'interrupted'"));
  expect(read).toBeGreaterThan(0);
  expect(read).toBeLessThan(12);
  /** Runs a command that ends with 0; returns how many libraries it read. */
  const readsBy = async (args: readonly string[], more?: Readonly<Record<string, string>>) => {
    made.asked();
    expect((await made.call(args, more)).code).toBe(0);
    return made.asked().filter((line) => line.endsWith("/scenarios")).length;
  };
  return { ...made, left: 12 - read, readsBy };
}

test("an interrupted backfill is continued: the next one reads only what is left (fault 65)", async () => {
  const { lines, left, readsBy } = await interrupted();

  expect(await readsBy(["backfill"])).toBe(left);

  expect(
    await lines(
      `SELECT status, libraries_read, libraries_changed, backfill_since = min(backfill_since) OVER () FROM simcat.sync_runs
       WHERE kind = 'backfill' ORDER BY id`,
    ),
  ).toEqual([`interrupted ${12 - left} 0 true`, `ok ${left} 0 true`]);
  expect(await readsBy(["backfill"])).toBe(12);
});

test("a held backfill that reads nothing leaves the interrupted one to be continued (fault 189)", async () => {
  const { call, asked, lines, left, readsBy, service } = await interrupted();
  const unread = "SELECT library_name FROM simcat.library_sync ORDER BY content_read_at LIMIT $1";
  for (const name of await lines(unread, [left])) service.remove("alice", name);
  asked();
  expect((await call(["backfill"])).code).toBe(3);
  expect(asked()).toEqual(["GET /libs"]);
  service.put(...numbered(12));

  expect(await readsBy(["backfill"])).toBe(left);
});

/** A copy in which another program altered every scenario, and a `--restart` that was stopped midway. */
async function altered() {
  const made = await interrupted(async ({ query }) => {
    await query("UPDATE simcat.scenarios SET scenario_name = 'altered'");
    return ["backfill", "--restart"];
  });
  const alteredLibraries = "SELECT DISTINCT library_name FROM simcat.scenarios WHERE scenario_name = 'altered'";
  return { ...made, countAltered: async () => (await made.lines(alteredLibraries)).length };
}

test("an interrupted --restart is continued as one: the next backfill compares the rest too (fault 75)", async () => {
  const { left, readsBy, countAltered } = await altered();
  expect(await countAltered()).toBe(left);

  expect(await readsBy(["backfill"])).toBe(left);

  expect(await countAltered()).toBe(0);
});

test("a sync after an interrupted --restart compares every row of the libraries it reads (fault 75)", async () => {
  const { query, readsBy, countAltered } = await altered();
  await query("UPDATE simcat.library_sync SET reread_reason = 'restored'");

  expect(await readsBy(["sync"])).toBe(12);
  expect(await countAltered()).toBe(0);

  await query("UPDATE simcat.library_sync SET reread_reason = 'restored'");
  await query("UPDATE simcat.scenarios SET scenario_name = 'altered'");
  expect(await readsBy(["sync"])).toBe(12);
  expect(await countAltered()).toBe(12);
});

test("a backfill continues an interrupted one of its scope within SIMCAT_FULL_EVERY, unless --restart (fault 65)", async () => {
  const { query, lines, left, readsBy } = await interrupted();
  const setLast = (values: string) =>
    query(`UPDATE simcat.sync_runs SET ${values} WHERE id = (SELECT max(id) FROM simcat.sync_runs)`);
  await setLast("backfill_since = backfill_since - interval '2 days'");
  expect(await readsBy(["backfill", "--library", "alice/Lib 0"])).toBe(1);
  expect(await readsBy(["backfill"], { SIMCAT_FULL_EVERY: "49h" })).toBeLessThanOrEqual(left);

  await setLast("status = 'interrupted'");
  expect(await readsBy(["backfill"], { SIMCAT_FULL_EVERY: "49h" })).toBe(0);
  await setLast("status = 'interrupted'");
  expect(await readsBy(["backfill"], { SIMCAT_FULL_EVERY: "47h" })).toBe(12);
  await setLast("status = 'interrupted'");
  expect(await readsBy(["backfill", "--restart"])).toBe(12);

  // Under a clock that was ahead.
  await setLast("status = 'interrupted', backfill_since = backfill_since + interval '1 year'");
  expect(await readsBy(["backfill"])).toBe(12);
  const isPast = "SELECT backfill_since < now() FROM simcat.sync_runs ORDER BY id DESC LIMIT 1";
  expect(await lines(isPast)).toEqual(["true"]);
});

test("changes made after an interrupted backfill are read and not overwritten by older ones (fault 65)", async () => {
  const { call, query, service, readsBy } = await interrupted();
  changeAll(service, { lastModified: "2024-01-02 at 3:04 PM", description: "newer" });
  expect((await call(["sync"])).code).toBe(0);

  expect(await readsBy(["backfill"])).toBe(0);

  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});
