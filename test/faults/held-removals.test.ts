import { expect, test, vi } from "vitest";
import { gateAfter } from "../process/gate.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { lastRun } from "./run-results.ts";

// Many consecutive runs, each of which can be slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const libraries = (owner: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => library(owner, `lib ${from + at}`, { scenarios: [1] }));

const put = ({ service }: Fixture, owner: string, from: number, to: number) =>
  service.put(...libraries(owner, from, to));

const drop = ({ service }: Fixture, owner: string, from: number, to: number): void => {
  for (let at = from; at < to; at++) service.remove(owner, `lib ${at}`);
};

const live = async ({ query }: Fixture) =>
  Object.fromEntries(
    (
      await query<{ owner: string; live: number }>(
        "SELECT owner, count(*)::int AS live FROM simcat.libraries WHERE removed_at IS NULL GROUP BY 1 ORDER BY 1",
      )
    ).map(({ owner, live }) => [owner, live]),
  );

const held = ({ query }: Fixture) =>
  query("SELECT owner, library_name AS name FROM simcat.library_sync WHERE removal_held_at IS NOT NULL ORDER BY 1, 2");

/** A copy of alice's 21 libraries, and a service that replaced 20 of them with 60 of bob's. */
async function swapped(): Promise<Fixture> {
  const made = await syncedFixture(libraries("alice", 0, 21));
  drop(made, "alice", 1, 21);
  put(made, "bob", 0, 60);
  return made;
}

const NUMBERS =
  "20 of 21 libraries would be marked removed (95.24 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked";

test("a held removal stays held even if new libraries outnumber the missing ones (fault 49)", async () => {
  const made = await swapped();
  const sync = (...args: string[]) => made.call(["sync", ...args]);

  for (const run of [await sync(), await sync(), await made.simcat(["backfill"])]) {
    expect([run.code, run.stdout]).toEqual([3, expect.stringContaining(NUMBERS)]);
  }
  const planned = await sync("--dry-run", "--json");
  expect(JSON.parse(planned.stdout)).toMatchObject({ remove: [], missing: 20, held: expect.stringContaining(NUMBERS) });
  expect((await sync("--dry-run")).stdout.match(/^ {2}held {4}alice\/lib \d+ {2}\(no longer listed\)$/gm)).toHaveLength(
    20,
  );
  expect((await sync("--library", "alice/lib 7")).code).toBe(3);
  expect((await sync("--owner", "alice")).code).toBe(3);
  expect((await sync("--owner", "bob")).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 21, bob: 60 });
  drop(made, "alice", 0, 1);
  expect((await sync()).code).toBe(3);
  // A removal that is held later belongs to the first hold, or the libraries stored since would lower its share.
  expect(await made.query("SELECT count(DISTINCT removal_held_at)::int AS times FROM simcat.library_sync")).toEqual([
    { times: 1 },
  ]);
  put(made, "alice", 0, 1);

  expect((await sync("--allow-removals")).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 1, bob: 60 });
  expect(await held(made)).toEqual([]);
  expect((await sync()).code).toBe(0);
});

test("a run of one owner holds the removals that a run of everything would hold (fault 49)", async () => {
  const made = await swapped();

  expect((await made.call(["sync", "--owner", "bob"])).code).toBe(0);
  expect(await held(made)).toHaveLength(20);
  const run = await made.simcat(["sync"]);

  expect([run.code, run.stdout]).toEqual([3, expect.stringContaining(NUMBERS)]);
  expect(await live(made)).toEqual({ alice: 21, bob: 60 });
});

test("removals that a run is allowed to mark hold no removal elsewhere (fault 49)", async () => {
  const made = await syncedFixture([...libraries("alice", 0, 20), ...libraries("bob", 0, 10)]);
  drop(made, "alice", 0, 9);
  drop(made, "bob", 0, 1);

  expect((await made.call(["sync", "--owner", "alice", "--allow-removals"])).code).toBe(0);
  expect(await held(made)).toEqual([]);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 11, bob: 9 });
});

test("libraries that move to another owner are stored while their removal is held (fault 49)", async () => {
  const made = await syncedFixture(libraries("bob", 0, 10));
  drop(made, "bob", 0, 5);
  for (let at = 0; at < 5; at++) {
    made.service.put(library("ann", `lib ${at}`, { libraryOwner: "bob", scenarios: [1] }));
  }

  for (const _ of ["held", "held before"]) {
    expect((await made.call(["sync"])).code).toBe(3);
    expect(await live(made)).toEqual({ ann: 5, bob: 10 });
  }
  expect((await made.simcat(["sync", "--allow-removals"])).code).toBe(0);
  expect(await live(made)).toEqual({ ann: 5, bob: 5 });
});

test("a run of one owner holds no removal within the share of everything (fault 49)", async () => {
  const made = await syncedFixture([...libraries("alice", 0, 10), ...libraries("bob", 0, 2)]);
  drop(made, "alice", 0, 2);

  expect((await made.call(["sync", "--owner", "bob"])).code).toBe(0);
  expect(await held(made)).toEqual([]);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 8, bob: 2 });
});

test("a hold ends neither after 24 hours nor with an incomplete listing (fault 49)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 10));
  drop(made, "alice", 0, 3);
  expect((await made.call(["sync"])).code).toBe(0);
  drop(made, "alice", 3, 4);
  expect((await made.call(["sync"])).code).toBe(3);
  made.service.once({ operation: "listing" }, { kind: "headers", set: { link: '</libs?page=2>; rel="next"' } });
  expect((await made.call(["sync"])).code).toBe(2);
  await made.query(
    "UPDATE simcat.libraries SET first_seen_at = first_seen_at - interval '2 d', changed_at = changed_at - interval '2 d', removed_at = removed_at - interval '2 d'",
  );
  await made.query(
    "UPDATE simcat.library_history SET first_seen_at = first_seen_at - interval '2 d', valid_from = valid_from - interval '2 d', valid_to = valid_to - interval '2 d'",
  );
  await made.query("UPDATE simcat.library_sync SET removal_held_at = removal_held_at - interval '2 d'");

  const run = await made.simcat(["sync"]);

  expect(run.code).toBe(3);
  expect(run.stdout).toContain(
    "1 of 7 libraries would be marked removed (14.29 %); the removal of 1 of them was held by an earlier run, and it is still not listed; nothing was marked. If they are really gone, run it again with --allow-removals",
  );
  expect(await live(made)).toEqual({ alice: 7 });
});

test("explain says that a removal is held, since when, and what resolves it (fault 123)", async () => {
  const made = await swapped();
  expect((await made.call(["sync"])).code).toBe(3);
  const [row] = await made.query<{ since: Date }>(
    "SELECT removal_held_at AS since FROM simcat.library_sync WHERE library_name = 'lib 7' AND owner = 'alice'",
  );
  const since = row?.since.toISOString() ?? "never";

  const explained = await made.simcat(["explain", "alice/lib 7"]);
  expect(explained.stdout.split("\n")[1]?.replace(/\((?:just now|\d+ s ago)\)/, "(…)")).toBe(
    `It will not be read: the last listing lacks it. A guard has held its removal since ${since.replace(/\.\d+Z/, "Z")} (…); this ends when the service lists it again, or with simcat sync --allow-removals.`,
  );
  const json = await made.simcat(["explain", "--json", "alice/lib 7"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    verdict: { next_run: "none", reason: "removal held" },
    removal_held_at: since,
  });
  const listed = await made.simcat(["explain", "--json", "alice/lib 0"]);
  expect(JSON.parse(listed.stdout)).toMatchObject({ verdict: { next_run: "skip" }, removal_held_at: null });
});

test("verify advises --allow-removals for held removals, and its advice helps (fault 124)", async () => {
  const made = await swapped();
  const advice = async () => {
    const { code, stdout } = await made.simcat(["verify"]);
    return [code, ...stdout.split("\n").filter((line) => /^ {2}to do {6}|^ {13}/.test(line))];
  };
  drop(made, "bob", 0, 60);
  expect(await advice()).toEqual([2, "  to do      simcat sync marks as removed what is no longer listed"]);
  expect((await made.call(["sync"])).code).toBe(3);

  expect(await advice()).toEqual([
    2,
    "  to do      20 removals are held: simcat sync --allow-removals marks as removed what is really gone; otherwise restore it in the service",
  ]);
  const { stdout } = await made.simcat(["verify", "--json", "--library", "alice/lib 7"]);
  expect(JSON.parse(stdout).differences).toMatchObject([{ kind: "unlisted", removal_held_at: expect.any(String) }]);

  expect((await made.simcat(["sync", "--allow-removals"])).code).toBe(0);
  expect(await advice()).toEqual([0]);
});

test("returning libraries are released from the hold, missing ones stay held (fault 49)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 10));
  drop(made, "alice", 0, 4);
  expect((await made.call(["sync"])).code).toBe(3);

  put(made, "alice", 1, 4);
  expect((await made.call(["sync"])).code).toBe(3);
  expect(await held(made)).toEqual([{ owner: "alice", name: "lib 0" }]);
  put(made, "alice", 0, 1);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await held(made)).toEqual([]);

  drop(made, "alice", 0, 3);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 7 });
});

test("two alternating listings stay held, however many libraries both contain (fault 49)", async () => {
  const made = await swapped();
  expect((await made.call(["sync"])).code).toBe(3);

  put(made, "alice", 1, 21);
  drop(made, "bob", 0, 60);
  expect((await made.call(["sync"])).code).toBe(3);
  drop(made, "alice", 1, 21);
  put(made, "bob", 0, 60);
  const back = await made.simcat(["sync"]);

  expect([back.code, back.stdout]).toEqual([3, expect.stringContaining(NUMBERS)]);
  put(made, "alice", 1, 21);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 21, bob: 60 });
});

test("an empty listing holds the libraries that a later listing lacks (fault 49)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 10));
  made.service.once({ operation: "listing" }, { kind: "emptyList" });
  expect((await made.call(["sync"])).code).toBe(3);
  drop(made, "alice", 0, 1);

  expect((await made.simcat(["sync"])).code).toBe(3);
  expect(await held(made)).toEqual([{ owner: "alice", name: "lib 0" }]);
});

/** Starts a run that waits after `passing` content requests. */
async function waiting(made: (gate: ReturnType<typeof gateAfter>) => Promise<Fixture>, passing: number) {
  const gate = gateAfter(passing);
  const fixed = await made(gate);
  const running = fixed.start(["sync"], { SIMCAT_CONCURRENCY: "1" });
  await gate.reached;
  return { ...fixed, gate, running };
}

test("a held run that is interrupted while reading has recorded its hold (fault 49)", async () => {
  const { running, gate, ...made } = await waiting(async (gate) => {
    let isOpen = true;
    const onRequest: typeof gate.onRequest = (request) => (isOpen ? undefined : gate.onRequest(request));
    const made = await syncedFixture(libraries("alice", 0, 21), { onRequest });
    isOpen = false;
    drop(made, "alice", 1, 21);
    put(made, "bob", 0, 60);
    return made;
  }, 40);
  running.process.kill("SIGTERM");
  expect((await running.ended).code).toBe(143);
  gate.open();
  expect(await held(made)).toHaveLength(20);

  put(made, "bob", 60, 100);
  expect((await made.call(["sync", "--owner", "bob"])).code).toBe(0);
  const next = await made.simcat(["sync"]);
  expect([next.code, next.stdout]).toEqual([3, expect.stringContaining(NUMBERS)]);
});

/** A run over ten libraries, one missing and one new, that waits for the content of the new one. */
const removing = () =>
  waiting(async (gate) => {
    let isOpen = true;
    const onRequest: typeof gate.onRequest = (request) => (isOpen ? undefined : gate.onRequest(request));
    const made = await fixture(libraries("alice", 0, 10), { onRequest });
    await made.simcat(["sync"]);
    isOpen = false;
    drop(made, "alice", 0, 1);
    put(made, "bob", 0, 1);
    return made;
  }, 0);

test("a run marks removals before it reads content, even if it is then interrupted (fault 50)", async () => {
  const { running, gate, ...made } = await removing();
  expect(await live(made)).toEqual({ alice: 9 });

  running.process.kill("SIGTERM");
  expect((await running.ended).code).toBe(143);
  gate.open();
  expect(await lastRun(made.query)).toMatchObject({ status: "interrupted", libraries_removed: 1 });
});

test("a library that is listed again during a run is not removed after its return (fault 50)", async () => {
  const { running, gate, ...made } = await removing();
  const [before] = await made.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  put(made, "alice", 0, 1);
  gate.open();
  expect((await running.ended).code).toBe(0);

  expect(await made.query("SELECT library_name FROM simcat.libraries WHERE removed_at > $1", [before?.now])).toEqual(
    [],
  );
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 10, bob: 1 });
});
