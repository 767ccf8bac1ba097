import { expect, test } from "vitest";
import { waitingRun } from "../process/waiting-run.ts";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import { drop, libraries, live, put } from "./removals.ts";
import { lastRun } from "./run-results.ts";

/** The service replaces 20 of alice's 21 libraries with 60 of bob's. */
function swap(made: Fixture): void {
  drop(made, "alice", 1, 21);
  put(made, "bob", 0, 60);
}

async function swapped(): Promise<Fixture> {
  const made = await syncedFixture(libraries("alice", 0, 21));
  swap(made);
  return made;
}

test("explain says that a removal is held, since when, and what resolves it (fault 123)", async () => {
  const made = await swapped();
  expect((await made.call(["sync"])).code).toBe(3);
  const [row] = await made.query<{ since: Date }>(
    "SELECT removal_held_at AS since FROM simcat.library_sync WHERE library_name = 'lib 7' AND owner = 'alice'",
  );
  const since = row?.since.toISOString() ?? "never";

  const explained = await made.call(["explain", "alice/lib 7"]);
  expect(explained.stdout.split("\n")[1]?.replace(/\((?:just now|\d+ s ago)\)/, "(…)")).toBe(
    `It will not be read: the last listing lacks it. A guard has held its removal since ${since.replace(/\.\d+Z/, "Z")} (…); this ends when the service lists it again, or with simcat sync --allow-removals.`,
  );
  const json = async (name: string) => JSON.parse((await made.call(["explain", "--json", name])).stdout);
  const verdict = { next_run: "none", reason: "removal held" };
  expect(await json("alice/lib 7")).toMatchObject({ verdict, removal_held_at: since });
  expect(await json("alice/lib 0")).toMatchObject({ verdict: { next_run: "skip" }, removal_held_at: null });
});

test("verify advises --allow-removals for held removals, and its advice helps (fault 124)", async () => {
  const made = await swapped();
  const advice = async () => {
    const { code, stdout } = await made.call(["verify"]);
    return [code, ...stdout.split("\n").filter((line) => /^ {2}to do {6}|^ {13}/.test(line))];
  };
  drop(made, "bob", 0, 60);
  expect(await advice()).toEqual([
    2,
    "  to do      simcat sync marks as removed what is no longer listed, unless a guard holds it",
  ]);
  expect((await made.call(["sync"])).code).toBe(3);

  expect(await advice()).toEqual([
    2,
    "  to do      20 removals are held: simcat sync --allow-removals marks as removed what is really gone; otherwise restore it in the service",
  ]);
  const { stdout } = await made.call(["verify", "--json", "--library", "alice/lib 7"]);
  expect(JSON.parse(stdout).differences).toMatchObject([{ kind: "unlisted", removal_held_at: expect.any(String) }]);

  expect((await made.call(["sync", "--allow-removals"])).code).toBe(0);
  expect(await advice()).toEqual([0]);
});

test("a held run that is interrupted while reading has recorded its hold (fault 49)", async () => {
  const made = await waitingRun(libraries("alice", 0, 21), 40, async (made) => {
    swap(made);
    return ["sync"];
  });
  await made.interrupt();
  expect(await made.lines("SELECT count(removal_held_at) FROM simcat.library_sync")).toEqual(["20"]);

  put(made, "bob", 60, 100);
  expect((await made.call(["sync", "--owner", "bob"])).code).toBe(0);
  const next = await made.call(["sync"]);
  const numbers =
    "20 of 21 libraries would be marked removed (95.24 %); the limit is SIMCAT_MAX_REMOVED=30 %; nothing was marked";
  expect([next.code, next.stdout]).toEqual([3, expect.stringContaining(numbers)]);
});

/** A run over ten libraries, one missing and one new, that waits for the content of the new one. */
const removing = () =>
  waitingRun(libraries("alice", 0, 10), 0, async (made) => {
    drop(made, "alice", 0, 1);
    put(made, "bob", 0, 1);
    return ["sync"];
  });

test("a run marks removals before it reads content, even if it is then interrupted (fault 50)", async () => {
  const made = await removing();
  expect(await live(made)).toEqual({ alice: 9 });

  await made.interrupt();
  expect(await lastRun(made.query)).toMatchObject({ status: "interrupted", libraries_removed: 1 });
});

test("a library that is listed again during a run is not removed after its return (fault 50)", async () => {
  const made = await removing();
  const [before] = await made.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  put(made, "alice", 0, 1);
  made.open();
  expect((await made.running).code).toBe(0);

  expect(await made.lines("SELECT library_name FROM simcat.libraries WHERE removed_at > $1", [before?.now])).toEqual(
    [],
  );
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await live(made)).toEqual({ alice: 10, bob: 1 });
});
