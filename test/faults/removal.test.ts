import { expect, test, vi } from "vitest";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, logLines } from "./run-results.ts";

// Many consecutive runs, each of which can be slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const libraries = (count: number, owner = "alice") =>
  Array.from({ length: count }, (_, at) => library(owner, `lib ${at}`, { scenarios: [1] }));

function drop({ service }: Fixture, from: number, to: number, owner = "alice"): void {
  for (let at = from; at < to; at++) service.remove(owner, `lib ${at}`);
}

function restore({ service }: Fixture, from: number, to: number): void {
  for (let at = from; at < to; at++) service.put(library("alice", `lib ${at}`, { scenarios: [1] }));
}

const live = async (query: Fixture["query"], owner = "alice") =>
  (
    await query<{ live: number }>(
      "SELECT count(*)::int AS live FROM simcat.libraries WHERE removed_at IS NULL AND owner = $1",
      [owner],
    )
  )[0]?.live;

/** Moves all removals and first-seen times two days back, out of the guard's 24 hours. */
async function passTwoDays(query: Fixture["query"]): Promise<void> {
  await query(
    "UPDATE simcat.libraries SET first_seen_at = first_seen_at - interval '2 days', changed_at = changed_at - interval '2 days', removed_at = removed_at - interval '2 days'",
  );
  await query(
    "UPDATE simcat.library_history SET valid_from = valid_from - interval '2 days', valid_to = valid_to - interval '2 days'",
  );
}

test("an empty listing on the first run is ok, with no library (fault 42)", async () => {
  const { simcat, query } = await fixture([]);

  const { code } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(await lastRun(query)).toEqual({ status: "ok" });
  expect(await query("SELECT * FROM simcat.libraries")).toEqual([]);
});

test("an empty listing is held in every run until it is allowed, even for one live library (fault 43)", async () => {
  const made = await syncedFixture(libraries(1));
  drop(made, 0, 1);

  const first = await made.simcat(["sync"]);
  const second = await made.simcat(["backfill"]);

  expect([first.code, second.code]).toEqual([3, 3]);
  expect(first.stdout).toContain("the listing is empty, but 1 library is live; nothing was marked");
  expect(logLines(first).at(-1)).toMatchObject({
    code: "run_finished",
    status: "held",
    error: expect.stringContaining("--allow-removals"),
  });
  expect(await live(made.query)).toBe(1);

  expect((await made.simcat(["sync", "--allow-removals"])).code).toBe(0);
  expect(await live(made.query)).toBe(0);
  expect(await lastRun(made.query)).toEqual({ status: "ok", libraries_removed: 1 });
});

test("three of ten libraries may disappear at once (fault 44)", async () => {
  const made = await syncedFixture(libraries(10));
  drop(made, 0, 3);

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made.query)).toBe(7);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_removed: 3 });
});

test("four of ten removals are held, and the held run stores everything else (fault 43)", async () => {
  const made = await syncedFixture(libraries(10));
  drop(made, 0, 4);
  made.service.put(library("alice", "new", { scenarios: [1] }));

  const held = await made.simcat(["sync"]);

  expect(held.code).toBe(3);
  expect(held.stdout).toContain(
    "4 of 10 libraries would be marked removed (40.00 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked",
  );
  expect(await lastRun(made.query)).toMatchObject({ status: "held", libraries_read: 1, libraries_changed: 1 });
  expect(await live(made.query)).toBe(11);
});

test("removals within 24 hours add up against the peak count; allowed or older ones do not count", async () => {
  const made = await syncedFixture(libraries(20));
  const sync = async (...args: string[]) => (await made.call(["sync", ...args])).code;

  drop(made, 0, 3);
  expect(await sync()).toBe(0);
  drop(made, 3, 7);
  const held = await made.simcat(["sync"]);
  expect(held.code).toBe(3);
  expect(held.stdout).toContain("4 of 20 libraries would be marked removed (7 in the last 24 h, 35.00 %)");
  restore(made, 3, 7);
  expect(await sync()).toBe(0);
  drop(made, 3, 6);
  expect(await sync()).toBe(0);
  expect(await live(made.query)).toBe(14);

  drop(made, 6, 8);
  expect(await sync()).toBe(3);
  expect(await sync("--allow-removals")).toBe(0);
  expect(await live(made.query)).toBe(12);

  await passTwoDays(made.query);
  drop(made, 8, 11);
  expect(await sync()).toBe(0);
  expect(await live(made.query)).toBe(9);
});

test("removals in a run that was allowed them count neither as removed nor in the base (fault 143)", async () => {
  const made = await syncedFixture(libraries(20));
  drop(made, 0, 10);
  expect((await made.call(["sync", "--allow-removals"])).code).toBe(0);

  drop(made, 10, 14);
  const held = await made.simcat(["sync"]);
  expect([held.code, held.stdout]).toEqual([
    3,
    expect.stringContaining("4 of 10 libraries would be marked removed (40.00 %)"),
  ]);
  restore(made, 13, 14);
  expect((await made.call(["sync"])).code).toBe(3);
  restore(made, 10, 13);
  expect((await made.call(["sync"])).code).toBe(0);

  // A library that returns is in the base again.
  restore(made, 0, 4);
  expect((await made.call(["sync"])).code).toBe(0);
  drop(made, 10, 14);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made.query)).toBe(10);
});

test("new libraries of an incomplete listing do not lower the share of later removals (fault 143)", async () => {
  const made = await syncedFixture(libraries(10));
  drop(made, 0, 4);
  const nameless = library("bad", "entry", { source: { entry: '{"uploadUser":"alice"}' } });
  for (const one of [...libraries(30, "bob"), nameless]) made.service.put(one);
  expect((await made.call(["sync"])).code).toBe(2);
  made.service.remove("bad", "entry");

  const held = await made.simcat(["sync"]);

  expect([held.code, held.stdout]).toEqual([
    3,
    expect.stringContaining("4 of 10 libraries would be marked removed (40.00 %)"),
  ]);
  restore(made, 0, 4);
  expect((await made.call(["sync"])).code).toBe(0);
  drop(made, 0, 4);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect([await live(made.query), await live(made.query, "bob")]).toEqual([6, 30]);
});

test("libraries that were stored from cached listings are in the base of later removals (fault 185)", async () => {
  const made = await fixture(Array.from({ length: 10 }, (_, at) => library("ann", `lib ${at}`, { scenarios: [1] })));
  const cached = { match: { operation: "listing" }, action: { kind: "headers", set: { age: "600" } } } as const;
  for (let run = 0; run < 2; run++) {
    made.service.script([cached]);
    expect((await made.call(["sync"])).code).toBe(0);
  }
  made.service.script([]);
  for (const name of ["lib 0", "lib 1", "lib 2"]) made.service.remove("ann", name);

  expect((await made.call(["sync"])).code).toBe(0);
  expect(
    await made.query("SELECT count(*)::int AS removed FROM simcat.libraries WHERE removed_at IS NOT NULL"),
  ).toEqual([{ removed: 3 }]);

  made.service.remove("ann", "lib 3");
  expect((await made.simcat(["sync"])).code).toBe(3);
});

test("a library that goes and returns repeatedly counts once among the removals of 24 hours (fault 143)", async () => {
  const made = await syncedFixture(libraries(10));
  const sync = async () => (await made.call(["sync"])).code;
  for (let round = 0; round < 4; round++) {
    drop(made, 0, 1);
    expect(await sync()).toBe(0);
    restore(made, 0, 1);
    expect(await sync()).toBe(0);
  }
  drop(made, 0, 3);
  expect(await sync()).toBe(0);
  restore(made, 0, 3);
  expect(await sync()).toBe(0);
  drop(made, 2, 4);

  const held = await made.simcat(["sync"]);
  expect([held.code, held.stdout]).toEqual([
    3,
    expect.stringContaining("2 of 10 libraries would be marked removed (4 in the last 24 h, 40.00 %)"),
  ]);
});

test("with --owner the share is of all live libraries, and no other owner's libraries are marked", async () => {
  const made = await syncedFixture([...libraries(10), ...libraries(10, "bob")]);
  drop(made, 0, 7);
  drop(made, 0, 1, "bob");

  expect((await made.call(["sync", "--owner", "alice"])).code).toBe(3);
  restore(made, 0, 7);
  expect((await made.call(["sync", "--owner", "alice"])).code).toBe(0);
  drop(made, 0, 6);
  expect((await made.simcat(["sync", "--owner", "alice"])).code).toBe(0);

  expect([await live(made.query), await live(made.query, "bob")]).toEqual([4, 10]);
});

test("a listing that shares nothing with ten live libraries stores nothing and is held", async () => {
  const made = await syncedFixture(libraries(10));
  drop(made, 0, 10);
  made.service.put(library("stranger", "Fire", { scenarios: [1] }));
  made.asked();

  const held = await made.simcat(["sync"]);

  expect(held.code).toBe(3);
  expect(held.stdout).toContain(
    "the listing holds 1 library and none of the 10 live ones; nothing was stored or marked",
  );
  expect(made.asked()).toEqual(["GET /libs"]);
  expect([await live(made.query), await live(made.query, "stranger")]).toEqual([10, 0]);
  expect(await made.query("SELECT * FROM simcat.library_sync WHERE owner = 'stranger'")).toEqual([]);

  expect((await made.simcat(["sync", "--allow-removals"])).code).toBe(0);
  expect([await live(made.query), await live(made.query, "stranger")]).toEqual([0, 1]);
});

test("a listing that shares nothing with nine live libraries is stored; its removals are held", async () => {
  const made = await syncedFixture(libraries(9));
  drop(made, 0, 9);
  made.service.put(library("stranger", "Fire", { scenarios: [1] }));

  expect((await made.simcat(["sync"])).code).toBe(3);
  expect([await live(made.query), await live(made.query, "stranger")]).toEqual([9, 1]);
});

/** For each run, whether it saw everything that the service has. */
const seen = async (query: Fixture["query"]) => {
  const rows = await query<{ saw: boolean }>(
    "SELECT saw_everything AS saw FROM simcat_report.run_history ORDER BY run_id",
  );
  return rows.map(({ saw }) => saw);
};

test("a paged listing is stored and removes nothing, and the run is partial (fault 45)", async () => {
  const made = await syncedFixture(libraries(5));
  drop(made, 0, 1);
  made.service.put(library("alice", "new", { scenarios: [1] }));
  made.service.always(
    { operation: "listing" },
    { kind: "headers", set: { link: '</libs?page=2>; rel="next", </libs>; rel=first' } },
  );

  const paged = await made.simcat(["sync"]);

  expect(paged.code).toBe(2);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_listed: 5, libraries_read: 1 });
  expect(logLines(paged).filter(({ code }) => code === "listing_incomplete")).toMatchObject([{ level: "warn" }]);
  expect(await live(made.query)).toBe(6);
  expect(await seen(made.query)).toEqual([true, false]);

  made.service.always({ operation: "listing" }, { kind: "headers", set: { link: '</libs>; rel="prev last"' } });
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made.query)).toBe(5);
  expect(await seen(made.query)).toEqual([true, false, true]);
});

test("a run over one page of a listing has not seen everything after a prune either (fault 138)", async () => {
  const made = await fixture(libraries(5));
  const paged = { kind: "headers", set: { link: '</libs?page=2>; rel="next"' } } as const;
  made.service.once({ operation: "listing" }, paged);
  expect((await made.call(["sync"])).code).toBe(2);
  expect((await made.call(["sync"])).code).toBe(0);
  await made.query("UPDATE simcat.rejects SET resolved_at = resolved_at - interval '2 days'");

  expect((await made.simcat(["prune", "--older-than", "1d"])).code).toBe(0);

  expect(await made.query("SELECT FROM simcat.rejects")).toEqual([]);
  expect(await seen(made.query)).toEqual([false, true]);
});

test("a cached listing marks nothing that was read after the cache stored it (fault 45)", async () => {
  const made = await syncedFixture(libraries(10));
  drop(made, 0, 1);
  const cached = async (age: string, readAgo: string) => {
    await made.query("UPDATE simcat.library_sync SET content_read_at = now() - $1::interval", [readAgo]);
    made.service.once({ operation: "listing" }, { kind: "headers", set: { age } });
    const ended = await made.call(["sync"]);
    return [ended.code, logLines(ended).filter(({ code }) => code === "listing_cached").length, await live(made.query)];
  };

  expect(await cached("600", "2 minutes")).toEqual([0, 1, 10]);
  expect(await cached("soon", "30 days")).toEqual([0, 1, 10]);
  expect(await cached("600", "10 minutes")).toEqual([0, 1, 10]);
  expect(await cached("600", "12 minutes")).toEqual([0, 1, 9]);
});

test("a listing from a cache of unknown age is no proof of freshness (fault 178)", async () => {
  const made = await fixture(libraries(2));
  const freshness = async () =>
    await made.query(
      `SELECT complete_as_of::text AS at, last_whole_run_id::int AS run, (SELECT count(complete_as_of)::int FROM simcat_report.library_freshness) AS known
       FROM simcat_report.data_complete_as_of`,
    );
  const sync = async (...ages: string[]) => {
    made.service.once({ operation: "listing" }, { kind: "headers", set: { age: ages } });
    const ended = await made.call(["sync"]);
    return [ended.code, logLines(ended).find(({ code }) => code === "listing_cached")?.detail ?? null];
  };
  const unknown = [0, expect.stringContaining("stored for an unknown time: edits since then are not seen. Its Age")];

  expect(await sync("99999999999")).toEqual(unknown);
  expect(await freshness()).toEqual([{ at: null, run: null, known: 2 }]);
  expect(await sync()).toEqual([0, null]);
  const proven = await freshness();
  expect(proven).toMatchObject([{ at: expect.stringContaining("20"), run: 2, known: 2 }]);
  for (const ages of [["soon"], ["-60"], ["1e9"], ["60", "later"]]) expect(await sync(...ages)).toEqual(unknown);
  expect(await freshness()).toEqual(proven);
  expect((await made.simcat(["prune", "--older-than", "1d", "--json"])).code).toBe(0);
});

test("an entry that a cache stored before a removal or hold changes neither, and its run says so (fault 153)", async () => {
  const made = await syncedFixture(libraries(20));
  drop(made, 0, 1);
  expect((await made.call(["sync"])).code).toBe(0);
  drop(made, 1, 9);
  expect((await made.call(["sync"])).code).toBe(3);
  const state = async () => {
    const [row] = await made.query(
      `SELECT (SELECT count(*)::int FROM simcat.libraries WHERE removed_at IS NOT NULL) AS removed,
         (SELECT count(*)::int FROM simcat.library_sync WHERE removal_held_at IS NOT NULL) AS held,
         (SELECT count(*)::int FROM simcat.library_history) AS versions,
         (SELECT complete_as_of < now() - interval '1 hour' FROM simcat_report.data_complete_as_of) AS "isOld"`,
    );
    return row;
  };
  expect(await state()).toEqual({ removed: 1, held: 8, versions: 1, isOld: false });

  restore(made, 0, 9);
  made.service.once({ operation: "listing" }, { kind: "headers", set: { age: "3600" } });
  made.asked();
  const stale = await made.simcat(["sync"]);

  expect([stale.code, made.asked().filter((line) => line.includes("lib%200"))]).toEqual([0, []]);
  expect(await state()).toEqual({ removed: 1, held: 8, versions: 1, isOld: true });
  expect(logLines(stale).filter(({ code }) => code === "listing_cached")).toMatchObject([
    { level: "warn", detail: expect.stringContaining("which it had stored for 1 h") },
  ]);
  drop(made, 1, 9);
  expect((await made.call(["sync"])).code).toBe(3);
  restore(made, 1, 9);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await state()).toEqual({ removed: 0, held: 0, versions: 2, isOld: false });
});

test("a paged scenario list is stored, removes nothing, and leaves its library due for a read", async () => {
  const made = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  made.service.change("alice", "Fire", {
    lastModified: "2030-01-02 at 3:04 PM",
    scenarios: [scenario(1), scenario(3)],
  });
  made.service.always(
    { operation: "scenarios" },
    { kind: "headers", set: { link: ['<x>; rel="prev"', "<y>; rel=next"] } },
  );

  expect((await made.call(["sync"])).code).toBe(2);
  expect(await made.query("SELECT kind, code, payload FROM simcat.rejects")).toEqual([
    { kind: "scenario", code: "paged_answer", payload: '<x>; rel="prev", <y>; rel=next' },
  ]);
  expect(await made.query("SELECT scenario_id::int AS id, removed_at FROM simcat.scenarios ORDER BY 1")).toEqual([
    { id: 1, removed_at: null },
    { id: 2, removed_at: null },
    { id: 3, removed_at: null },
  ]);
  expect(await made.query("SELECT bookmark, reread_reason FROM simcat.library_sync")).toEqual([
    { bookmark: "2023-09-11 at 2:56 PM", reread_reason: "rejects" },
  ]);

  made.service.script([]);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(
    await made.query("SELECT scenario_id::int AS id FROM simcat.scenarios WHERE removed_at IS NULL ORDER BY 1"),
  ).toEqual([{ id: 1 }, { id: 3 }]);
});

test("a renamed or moved library is removed under its old key and added under its new one (fault 47)", async () => {
  const made = await syncedFixture([
    library("alice", "before", { scenarios: [1, 2] }),
    library("alice", "given", { scenarios: [scenario(1, { scenarioName: "alice's" })] }),
    ...libraries(8, "others"),
  ]);
  made.service.change("alice", "before", { name: "after", scenarios: [scenario(1), scenario(3)] });
  made.service.remove("alice", "given");
  made.service.put(library("bob", "given", { scenarios: [scenario(1, { scenarioName: "bob's" })] }));

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(
    await made.query(
      `SELECT owner, library_name AS name, l.removed_at IS NOT NULL AS gone, scenario_id::int AS id, scenario_name AS scenario, s.removed_at
       FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) WHERE owner <> 'others' ORDER BY 1, 2, 4`,
    ),
  ).toEqual([
    { owner: "alice", name: "after", gone: false, id: 1, scenario: "Scenario 1", removed_at: null },
    { owner: "alice", name: "after", gone: false, id: 3, scenario: "Scenario 3", removed_at: null },
    { owner: "alice", name: "before", gone: true, id: 1, scenario: "Scenario 1", removed_at: null },
    { owner: "alice", name: "before", gone: true, id: 2, scenario: "Scenario 2", removed_at: null },
    { owner: "alice", name: "given", gone: true, id: 1, scenario: "alice's", removed_at: null },
    { owner: "bob", name: "given", gone: false, id: 1, scenario: "bob's", removed_at: null },
  ]);
});

test("a returning library has its key, gapless versions, and the changes made meanwhile (fault 46)", async () => {
  const made = await syncedFixture(libraries(4));
  drop(made, 0, 1);
  expect((await made.call(["sync"])).code).toBe(0);
  made.service.put(library("alice", "lib 0", { scenarios: [scenario(1, { description: "meanwhile" }), 2] }));

  expect((await made.call(["sync"])).code).toBe(0);

  expect(
    await made.query(
      "SELECT removed_at, run_id::int AS run, first_seen_at < changed_at AS older FROM simcat.libraries WHERE library_name = 'lib 0'",
    ),
  ).toEqual([{ removed_at: null, run: 3, older: true }]);
  expect(
    await made.query(
      `SELECT v.removed_at IS NOT NULL AS removed, v.run_id::int AS run, superseded_by::int AS by,
         valid_to = coalesce(lead(valid_from) OVER (ORDER BY valid_from), l.changed_at) AS meets
       FROM simcat.library_history v JOIN simcat.libraries l USING (owner, library_name) ORDER BY valid_from`,
    ),
  ).toEqual([
    { removed: false, run: 1, by: 2, meets: true },
    { removed: true, run: 2, by: 3, meets: true },
  ]);
  expect(
    await made.query(
      "SELECT scenario_id::int AS id, description FROM simcat.scenarios WHERE library_name = 'lib 0' AND removed_at IS NULL ORDER BY 1",
    ),
  ).toEqual([
    { id: 1, description: "meanwhile" },
    { id: 2, description: null },
  ]);

  const [same] = made.service.organization.libraries().filter(({ name }) => name === "lib 1");
  if (same === undefined) throw new Error("lib 1 is missing");
  made.service.edit((organization) => void organization.remove(same.owner, same.name));
  expect((await made.call(["sync", "--allow-removals"])).code).toBe(0);
  made.service.put(same);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 1, libraries_changed: 1 });
});

test("a scenario removed under a new date is marked in the transaction of that read (fault 59)", async () => {
  const made = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2, 3] })]);
  made.service.change("alice", "Fire", {
    lastModified: "2030-01-02 at 3:04 PM",
    scenarios: [scenario(1), scenario(3, { description: "new" }), scenario(4)],
  });

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(
    await made.query(
      `SELECT scenario_id::int AS id, s.removed_at IS NOT NULL AS removed, s.xmin::text = l.xmin::text AS together,
         s.xmin::text = y.xmin::text AS with_bookmark
       FROM simcat.scenarios s JOIN simcat.libraries l USING (owner, library_name) JOIN simcat.library_sync y USING (owner, library_name) ORDER BY 1`,
    ),
  ).toEqual([
    { id: 1, removed: false, together: false, with_bookmark: false },
    { id: 2, removed: true, together: true, with_bookmark: true },
    { id: 3, removed: false, together: true, with_bookmark: true },
    { id: 4, removed: false, together: true, with_bookmark: true },
  ]);
});

test("a scenario that returns has its id and gapless versions (faults 46, 59)", async () => {
  const made = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  const list = (scenarios: ReturnType<typeof scenario>[], lastModified: string) =>
    made.service.change("alice", "Fire", { lastModified, scenarios });
  list([scenario(1)], "2030-01-02 at 3:04 PM");
  expect((await made.call(["sync"])).code).toBe(0);
  list([scenario(1), scenario(2)], "2030-01-03 at 3:04 PM");

  expect((await made.simcat(["sync"])).code).toBe(0);

  expect(await made.query("SELECT removed_at, run_id::int AS run FROM simcat.scenarios WHERE scenario_id = 2")).toEqual(
    [{ removed_at: null, run: 3 }],
  );
  expect(
    await made.query(
      `SELECT v.scenario_id::int AS id, v.removed_at IS NOT NULL AS removed, v.run_id::int AS run, superseded_by::int AS by,
         valid_to = coalesce(lead(valid_from) OVER (ORDER BY valid_from), s.changed_at) AS meets
       FROM simcat.scenario_history v JOIN simcat.scenarios s USING (owner, library_name, scenario_id) ORDER BY valid_from`,
    ),
  ).toEqual([
    { id: 2, removed: false, run: 1, by: 2, meets: true },
    { id: 2, removed: true, run: 2, by: 3, meets: true },
  ]);
});

test("the same id in two libraries makes two scenarios (fault 30)", async () => {
  const made = await fixture([
    library("alice", "a", { scenarios: [scenario(1, { description: "a's" })] }),
    library("alice", "b", { scenarios: [scenario(1, { description: "b's" })] }),
    library("bob", "a", { scenarios: [scenario(1, { description: "bob's" })] }),
  ]);

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(
    await made.query("SELECT owner, library_name AS name, description FROM simcat.scenarios ORDER BY 1, 2"),
  ).toEqual([
    { owner: "alice", name: "a", description: "a's" },
    { owner: "alice", name: "b", description: "b's" },
    { owner: "bob", name: "a", description: "bob's" },
  ]);
});
