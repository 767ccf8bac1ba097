import { expect, test } from "vitest";
import { waitingRun } from "../process/waiting-run.ts";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import { NEWER } from "../support/organization.ts";
import { drop, libraries, live, put } from "./removals.ts";

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

test("a held library that a cache lists is read, and explain does not deny it (fault 323)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 10));
  drop(made, "alice", 0, 5);
  expect((await made.call(["sync"])).code).toBe(3);
  put(made, "alice", 0, 5);
  made.service.change("alice", "lib 0", { lastModified: NEWER });
  made.service.always({ operation: "listing" }, { kind: "headers", set: { age: "1" } });
  expect((await made.call(["sync"])).stdout).toContain("1 read, 9 skipped, 1 changed");

  const { stdout } = await made.call(["explain", "alice/lib 0"]);

  expect(stdout.split("\n")[1]).toMatch(
    /^It will not be read while the listing lacks it\. .* \(a cache does not count\)/,
  );
});

test("no read is promised of a library that was never stored and whose removal is held (fault 331)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 10));
  put(made, "alice", 10, 11);
  made.service.always({ library: "lib 10" }, { kind: "status", status: 404 });
  for (const _ of ["now", "again", "at a distance"]) expect((await made.call(["sync"])).code).toBe(2);
  drop(made, "alice", 5, 11);
  expect((await made.call(["sync"])).code).toBe(3);

  const explained = await made.call(["explain", "alice/lib 10"]);
  const { stdout } = await made.call(["status"]);

  expect(explained.stdout.split("\n")[1]).toMatch(/^It will not be read while the listing lacks it\. A guard has held/);
  expect(stdout).toMatch(/^alice\/lib 10 .* none: held {2}never /m);
  const { failing } = JSON.parse((await made.call(["status", "--json"])).stdout);
  expect(failing).toMatchObject([{ library: "lib 10", next_read_due_at: null }]);

  expect((await made.call(["sync", "--allow-removals"])).code).toBe(0);
  expect(await made.lines("SELECT library_name FROM simcat.library_sync WHERE library_name = 'lib 10'")).toEqual([]);
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

test("a run marks removals before it reads content, and none of a library that returns meanwhile (fault 50)", async () => {
  const made = await waitingRun(libraries("alice", 0, 10), 0, async (made) => {
    drop(made, "alice", 0, 1);
    put(made, "bob", 0, 1);
    return ["sync"];
  });
  expect(await live(made)).toEqual({ alice: 9 });
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
