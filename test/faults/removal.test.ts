import { expect, test } from "vitest";
import { brokenHistories, serviceRows, storedRows } from "../process/service-rows.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { always, headers, status } from "./answers.ts";
import { drop, libraries, live, put } from "./removals.ts";
import { lastRun, logLines } from "./run-results.ts";

/** A change of the service or a run, in a story about removals. */
type Step = (made: Fixture) => unknown;

const gone =
  (owner: string, from: number, to: number): Step =>
  (made) =>
    drop(made, owner, from, to);

const listed =
  (owner: string, from: number, to: number): Step =>
  (made) =>
    put(made, owner, from, to);

/** A run that ends with this code and prints this text. */
const sync =
  (code: number, says = "", ...args: readonly string[]): Step =>
  async ({ call }) => {
    const ended = await call(["sync", ...args]);
    expect([ended.code, ended.stdout]).toEqual([code, expect.stringContaining(says)]);
  };

/** A run whose listing has this header. */
const syncWithHeader =
  (code: number, header: Readonly<Record<string, string>>): Step =>
  async (made) => {
    made.service.once({ operation: "listing" }, headers(header));
    await sync(code)(made);
  };

const PAGED = { link: '</libs?page=2>; rel="next"' };
const CACHED = { age: "600" };

const holds =
  (...names: readonly string[]): Step =>
  async ({ lines }) => {
    const held = "SELECT library_name FROM simcat.library_sync WHERE removal_held_at IS NOT NULL ORDER BY 1";
    expect(await lines(held)).toEqual(names);
  };

const holdsOfOneTime: Step = async ({ query }) =>
  expect(await query("SELECT DISTINCT removal_held_at FROM simcat.library_sync")).toHaveLength(2);

/** Moves everything stored two days back, out of the guard's 24 hours. */
const twoDaysPass: Step = async ({ query }) => {
  const columns = {
    libraries: ["first_seen_at", "changed_at", "removed_at"],
    library_history: ["first_seen_at", "valid_from", "valid_to"],
    library_sync: ["removal_held_at"],
  };
  for (const [table, names] of Object.entries(columns)) {
    await query(`UPDATE simcat.${table} SET ${names.map((name) => `${name} = ${name} - interval '2 days'`)}`);
  }
};

const SWAPPED =
  "20 of 21 libraries would be marked removed (95.24 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked";
const HELD_BEFORE =
  "1 of 7 libraries would be marked removed (14.29 %); the removal of 1 of them was held by an earlier run, and it is still not listed; nothing was marked. If they are really gone, run it again with --allow-removals";
/** Of alice's 21 libraries, 20 are replaced by 60 of bob's. */
const swap = [gone("alice", 1, 21), listed("bob", 0, 60)];
const swapBack = [listed("alice", 1, 21), gone("bob", 0, 60)];

/** Of each owner, the number of libraries. */
type Counts = Readonly<Record<string, number>>;

/** A story: what is stored first, what is live in the end, and in between lines of a change and the runs that meet it. */
function removals(name: string, stored: Counts, end: Counts, steps: readonly (readonly Step[])[]): void {
  test(`removals ${name}`, async () => {
    const made = await syncedFixture(Object.entries(stored).flatMap(([owner, count]) => libraries(owner, 0, count)));
    for (const step of steps.flat()) await step(made);
    expect(await live(made)).toEqual(end);
  });
}

removals("of all libraries are held in every run until they are allowed, even of one (fault 43)", { alice: 1 }, {}, [
  [gone("alice", 0, 1), sync(3, "the listing is empty, but 1 library is live; nothing was marked"), sync(3)],
  [sync(0, "1 removed", "--allow-removals")],
]);

removals("of 24 hours add up against the peak; allowed and older ones do not (fault 44)", { alice: 20 }, { alice: 9 }, [
  [gone("alice", 0, 3), sync(0)],
  [gone("alice", 3, 7), sync(3, "4 of 20 libraries would be marked removed (7 in the last 24 h, 35.00 %)")],
  [listed("alice", 6, 7), sync(3)],
  [listed("alice", 3, 6), sync(0)],
  [gone("alice", 3, 6), sync(0)],
  [gone("alice", 6, 8), sync(3), sync(0, "", "--allow-removals")],
  [twoDaysPass, gone("alice", 8, 11), sync(0)],
]);

removals("that were allowed count neither as removed nor in the base (fault 143)", { alice: 20 }, { alice: 10 }, [
  [gone("alice", 0, 10), sync(0, "", "--allow-removals")],
  [gone("alice", 10, 14), sync(3, "4 of 10 libraries would be marked removed (40.00 %)")],
  [listed("alice", 10, 14), sync(0)],
  // A library that returns is in the base again.
  [listed("alice", 0, 4), sync(0)],
  [gone("alice", 10, 14), sync(0)],
]);

removals("are measured without libraries of incomplete listings (fault 143)", { alice: 10 }, { alice: 6, bob: 30 }, [
  [gone("alice", 0, 4), listed("bob", 0, 30), syncWithHeader(2, PAGED), syncWithHeader(2, PAGED)],
  [sync(3, "4 of 10 libraries would be marked removed (40.00 %)")],
  [listed("alice", 0, 4), sync(0)],
  [gone("alice", 0, 4), sync(0)],
]);

removals("are measured with the libraries that cached listings brought (fault 185)", {}, { alice: 7 }, [
  [listed("alice", 0, 10), syncWithHeader(0, CACHED), syncWithHeader(0, CACHED)],
  [gone("alice", 0, 3), sync(0)],
  [gone("alice", 3, 4), sync(3)],
]);

removals("of a library that returns and leaves again count once (fault 143)", { alice: 10 }, { alice: 10 }, [
  [gone("alice", 0, 3), sync(0)],
  [listed("alice", 0, 3), sync(0)],
  [gone("alice", 0, 3), sync(0)],
  [listed("alice", 0, 3), sync(0)],
  [gone("alice", 2, 4), sync(3, "2 of 10 libraries would be marked removed (4 in the last 24 h, 40.00 %)")],
]);

removals("of one owner are measured against all libraries", { alice: 10, bob: 10 }, { alice: 4, bob: 10 }, [
  [gone("alice", 0, 7), gone("bob", 0, 1), sync(3, "", "--owner", "alice")],
  [listed("alice", 0, 7), sync(0, "", "--owner", "alice")],
  [gone("alice", 0, 6), sync(0, "", "--owner", "alice")],
]);

removals("by a listing without any of ten live libraries are held, and nothing is stored", { alice: 10 }, { bob: 1 }, [
  [gone("alice", 0, 10), listed("bob", 0, 1)],
  [sync(3, "the listing holds 1 library and none of the 10 live ones; nothing was stored or marked")],
  [async ({ asked }) => expect(asked()).toEqual(["GET /libs"])],
  [async (made) => expect(await live(made)).toEqual({ alice: 10 }), sync(0, "", "--allow-removals")],
]);

removals("that are held stay held when new libraries outnumber them (fault 49)", { alice: 21 }, { alice: 1, bob: 60 }, [
  [...swap, sync(3, SWAPPED), sync(3, SWAPPED), sync(3, "", "--library", "alice/lib 7")],
  [sync(3, "", "--owner", "alice"), sync(0, "", "--owner", "bob")],
  // A removal that is held later belongs to the first hold, or the libraries stored since would lower its share.
  [gone("alice", 0, 1), sync(3), holdsOfOneTime],
  [listed("alice", 0, 1), sync(0, "", "--allow-removals"), holds(), sync(0)],
]);

removals("that are held stay held while two listings alternate (fault 49)", { alice: 21 }, { alice: 21, bob: 60 }, [
  [...swap, sync(3, SWAPPED)],
  [...swapBack, sync(3)],
  [...swap, sync(3, SWAPPED)],
  [listed("alice", 1, 21), sync(0)],
]);

removals(
  "that a run of everything would hold are held by a run of one owner (fault 49)",
  { alice: 21 },
  { alice: 21, bob: 60 },
  [[...swap, sync(0, "", "--owner", "bob"), sync(3, SWAPPED)]],
);

removals(
  "that a run of everything would hold beside held ones are held by a run of one library (fault 49)",
  { alice: 10, bob: 10 },
  { alice: 10, bob: 10 },
  [
    [gone("alice", 0, 7), sync(3)],
    [gone("bob", 0, 1), sync(0, "", "--library", "bob/lib 9")],
    [listed("alice", 0, 7), sync(3)],
  ],
);

removals(
  "that are allowed, or within the share of everything, are not held elsewhere (fault 49)",
  { alice: 20, bob: 10 },
  { alice: 10, bob: 9 },
  [
    [gone("alice", 0, 9), gone("bob", 0, 1), sync(0, "", "--owner", "alice", "--allow-removals"), holds()],
    [gone("alice", 9, 10), sync(0, "", "--owner", "bob"), holds(), sync(0)],
  ],
);

removals("that are held end for the libraries that return (fault 49)", { alice: 10 }, { alice: 7 }, [
  [gone("alice", 0, 4), sync(3)],
  [listed("alice", 1, 4), sync(3), holds("lib 0")],
  [listed("alice", 0, 1), sync(0), holds()],
  [gone("alice", 0, 3), sync(0)],
]);

removals("that are held outlast 24 hours and an incomplete listing (fault 49)", { alice: 10 }, { alice: 7 }, [
  [gone("alice", 0, 3), sync(0)],
  [gone("alice", 3, 4), sync(3), syncWithHeader(2, PAGED)],
  [twoDaysPass, sync(3, HELD_BEFORE)],
]);

removals("of libraries that an empty listing lacked are held later, too (fault 49)", { alice: 10 }, { alice: 10 }, [
  [async ({ service }) => service.once({ operation: "listing" }, { kind: "dropItems" }), sync(3)],
  [gone("alice", 0, 1), sync(3), holds("lib 0")],
]);

test("four of ten removals are held: everything else is stored, and the run says what to do (fault 43)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 10));
  drop(made, "alice", 0, 4);
  put(made, "bob", 0, 1);

  const held = await made.call(["sync"]);

  expect(held.code).toBe(3);
  expect(held.stdout).toContain(
    "4 of 10 libraries would be marked removed (40.00 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked",
  );
  expect(await lastRun(made.query)).toMatchObject({ status: "held", libraries_read: 1, libraries_changed: 1 });
  expect(await live(made)).toEqual({ alice: 10, bob: 1 });
  expect(logLines(held).at(-1)).toMatchObject({
    code: "run_finished",
    status: "held",
    error: expect.stringContaining("--allow-removals"),
  });
  expect(JSON.parse((await made.call(["sync", "--dry-run", "--json"])).stdout)).toMatchObject({
    remove: [],
    missing: 4,
    held: expect.stringContaining("4 of 10 libraries would be marked removed"),
  });
  const { stdout } = await made.call(["sync", "--dry-run"]);
  expect(stdout.match(/^ {2}held {4}alice\/lib \d {2}\(no longer listed\)$/gm)).toHaveLength(4);
});

test("a paged listing is stored, removes nothing, and never counts as everything (faults 45, 138)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 5));
  const sawEverything = () => made.lines("SELECT saw_everything FROM simcat_report.run_history ORDER BY run_id");
  drop(made, "alice", 0, 1);
  made.service.put(library("alice", "new", { scenarios: [1] }));
  made.service.once({ operation: "listing" }, headers({ link: '</libs?page=2>; rel="next", </libs>; rel=first' }));

  const paged = await made.call(["sync"]);

  expect(paged.code).toBe(2);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_listed: 5, libraries_read: 1 });
  expect(logLines(paged).filter(({ code }) => code === "listing_incomplete")).toMatchObject([{ level: "warn" }]);
  expect(await live(made)).toEqual({ alice: 6 });
  expect(await sawEverything()).toEqual(["true", "false"]);

  made.service.once({ operation: "listing" }, headers({ link: '</libs>; rel="prev last"' }));
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 5 });
  await made.query("UPDATE simcat.rejects SET resolved_at = resolved_at - interval '2 days'");
  expect((await made.call(["prune", "--older-than", "1d"])).code).toBe(0);
  expect(await made.lines("SELECT id FROM simcat.rejects")).toEqual([]);
  expect(await sawEverything()).toEqual(["true", "false", "true"]);
});

test("a listing from a cache of unknown age is no proof of freshness (fault 178)", async () => {
  const made = await fixture(libraries("alice", 0, 2));
  const freshness = () =>
    made.lines(
      `SELECT last_whole_run_id, complete_as_of::text, (SELECT count(complete_as_of) FROM simcat_report.library_freshness)
       FROM simcat_report.data_complete_as_of`,
    );
  const sync = async (...ages: string[]) => {
    made.service.once({ operation: "listing" }, headers({ age: ages }));
    const ended = await made.call(["sync"]);
    return [ended.code, logLines(ended).find(({ code }) => code === "listing_cached")?.detail ?? null];
  };
  const unknown = [0, expect.stringContaining("stored for an unknown time: edits since then are not seen. Its Age")];

  expect(await sync("99999999999")).toEqual(unknown);
  expect(await freshness()).toEqual(["NULL NULL 2"]);
  expect(await sync()).toEqual([0, null]);
  const proven = await freshness();
  expect(proven).toEqual([expect.stringMatching(/^2 20\d\d-.* 2$/)]);
  for (const ages of [["soon"], ["-60"], ["1e9"], ["60", "later"]]) expect(await sync(...ages)).toEqual(unknown);
  expect(await freshness()).toEqual(proven);
  expect((await made.call(["prune", "--older-than", "1d", "--json"])).code).toBe(0);
});

test.each([
  [["odd", "broken"], "and 2 libraries seen since and not listed were kept \\(of them 2 failed"],
  [["odd"], "and 1 library seen since and not listed was kept \\(it failed"],
])("libraries %j with rejects that a cached listing does not show: partial (faults 267, 313)", async (names, kept) => {
  const made = await syncedFixture(libraries("alice", 0, 3));
  for (const name of names) made.service.put(library("alice", name, { scenarios: [1] }));
  const odd = { kind: "alterItem", index: "all", set: { scenarioId: "one" } } as const;
  made.service.script([
    always({ library: "odd", operation: "scenarios" }, odd),
    always({ library: "broken" }, status(404)),
  ]);
  expect((await made.call(["sync"])).code).toBe(2);

  for (const name of names) made.service.remove("alice", name);
  made.service.once({ operation: "listing" }, headers({ age: "600" }));
  const stale = await made.call(["sync"]);
  expect(stale.code).toBe(2);
  expect(logLines(stale).filter(({ code }) => code === "listing_cached")).toMatchObject([
    { level: "warn", detail: expect.stringMatching(new RegExp(`which it had stored for 10 min.*${kept}`)) },
  ]);
  expect((await made.call(["sync"])).code).toBe(0);
});

test("a reject of a listing that a cached listing does not show stays open, and the run is partial (fault 267)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 3));
  const open = "SELECT kind FROM simcat.rejects WHERE resolved_at IS NULL";
  made.service.once({ operation: "listing" }, { kind: "duplicateItem", index: 0, set: { lastModified: NEWER } });
  expect((await made.call(["sync"])).code).toBe(2);
  expect(await made.lines(open)).toEqual(["listing", "listing"]);
  for (const [age, code, rejects] of [
    ["600", 2, ["listing", "listing"]],
    [null, 0, []],
  ] as const) {
    if (age !== null) made.service.once({ operation: "listing" }, headers({ age }));
    expect((await made.call(["sync"])).code).toBe(code);
    expect(await made.lines(open)).toEqual(rejects);
  }
});

test("a renamed or moved library is removed under its old key and added under its new one (faults 30, 47)", async () => {
  const made = await syncedFixture([
    library("alice", "before", { scenarios: [1, 2] }),
    library("alice", "given", { scenarios: [scenario(1, { scenarioName: "alice's" })] }),
    ...libraries("others", 0, 8),
  ]);
  made.service.change("alice", "before", { name: "after", scenarios: [scenario(1), scenario(3)] });
  made.service.remove("alice", "given");
  made.service.put(library("bob", "given", { scenarios: [scenario(1, { scenarioName: "bob's" })] }));

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await storedRows(made.query)).toEqual(serviceRows(made.service.organization));
  const gone = `SELECT owner, library_name, scenario_name FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name)
    WHERE l.removed_at IS NOT NULL ORDER BY 2, 3`;
  expect(await made.lines(gone)).toEqual(["alice before Scenario 1", "alice before Scenario 2", "alice given alice's"]);
  expect(await made.lines("SELECT scenario_id FROM simcat.scenarios WHERE removed_at IS NOT NULL")).toEqual([]);
});

/** The versions of what one run stored, the second removed and the third restored. */
const VERSIONS = "SELECT removed_at IS NOT NULL AS removed, 'of run', run_id, 'until run', superseded_by";
const RETURNED = ["false of run 1 until run 2", "true of run 2 until run 3"];

test("a returning library has its key, gapless versions, and the changes made meanwhile (fault 46)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 4));
  drop(made, "alice", 0, 1);
  expect((await made.call(["sync"])).code).toBe(0);
  made.service.put(library("alice", "lib 0", { scenarios: [scenario(1, { description: "meanwhile" }), 2] }));

  expect((await made.call(["sync"])).code).toBe(0);

  const returned =
    "SELECT removed_at, run_id, first_seen_at < changed_at FROM simcat.libraries WHERE library_name = 'lib 0'";
  expect(await made.lines(returned)).toEqual(["NULL 3 true"]);
  expect(await made.lines(`${VERSIONS} FROM simcat.library_history ORDER BY valid_from`)).toEqual(RETURNED);
  expect(await brokenHistories(made.query)).toEqual([]);
  expect(await storedRows(made.query)).toEqual(serviceRows(made.service.organization));

  drop(made, "alice", 1, 2);
  expect((await made.call(["sync", "--allow-removals"])).code).toBe(0);
  put(made, "alice", 1, 2);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 1, libraries_changed: 1 });
});

test("a scenario is removed in its read's transaction and returns with gapless versions (faults 46, 59)", async () => {
  const made = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2, 3] })]);
  made.service.change("alice", "Fire", {
    lastModified: "2030-01-02 at 3:04 PM",
    scenarios: [scenario(1), scenario(3, { description: "new" }), scenario(4)],
  });

  expect((await made.call(["sync"])).code).toBe(0);
  const written = `SELECT scenario_id, CASE WHEN s.removed_at IS NULL THEN 'live' ELSE 'removed' END,
      'with library:', s.xmin::text = l.xmin::text, 'with bookmark:', s.xmin::text = y.xmin::text
    FROM simcat.scenarios s JOIN simcat.libraries l USING (owner, library_name)
    JOIN simcat.library_sync y USING (owner, library_name) ORDER BY 1`;
  expect(await made.lines(written)).toEqual([
    "1 live with library: false with bookmark: false",
    "2 removed with library: true with bookmark: true",
    "3 live with library: true with bookmark: true",
    "4 live with library: true with bookmark: true",
  ]);

  made.service.change("alice", "Fire", {
    lastModified: "2030-01-03 at 3:04 PM",
    scenarios: [scenario(1), scenario(2), scenario(3, { description: "new" }), scenario(4)],
  });
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await made.lines("SELECT removed_at, run_id FROM simcat.scenarios WHERE scenario_id = 2")).toEqual(["NULL 3"]);
  expect(
    await made.lines(`${VERSIONS} FROM simcat.scenario_history WHERE scenario_id = 2 ORDER BY valid_from`),
  ).toEqual(RETURNED);
  expect(await brokenHistories(made.query)).toEqual([]);
});

test("a cached listing does not forget a library that was listed first after a cache had stored it (fault 215)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 2));
  made.service.always({ library: "new" }, { kind: "status", status: 500 });
  made.service.put(library("alice", "new", { scenarios: [1] }));
  expect((await made.call(["sync"])).code).toBe(2);
  const state = () =>
    made.query("SELECT failures, first_listed_at FROM simcat.library_sync WHERE library_name = 'new'");
  const before = await state();

  made.service.remove("alice", "new");
  made.service.once({ operation: "listing" }, { kind: "headers", set: { age: "3600" } });
  expect((await made.call(["sync"])).code).toBe(2);

  expect(before).toEqual([{ failures: 1, first_listed_at: expect.any(Date) }]);
  expect(await state()).toEqual(before);
  expect((await made.call(["explain", "alice/new"])).code).toBe(0);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await state()).toEqual([]);
});
