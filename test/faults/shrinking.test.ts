import { isDeepStrictEqual } from "node:util";
import { expect, test, vi } from "vitest";
import { type Fixture, fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, logLines } from "./run-results.ts";

// Many consecutive runs, each of which can be slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const ids = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** A library's ids as first stored, and then as listed. */
interface Shrinking {
  readonly name: string;
  readonly stored: readonly number[];
  readonly listed: readonly number[];
}

const shrinking = (name: string, stored: readonly number[], listed: readonly number[]): Shrinking => ({
  name,
  stored,
  listed,
});

async function shrunkenOrganization(table: readonly Shrinking[]): Promise<Fixture> {
  const made = await fixture(table.map(({ name, stored }) => library("alice", name, { scenarios: stored })));
  expect((await made.simcat(["sync"])).code).toBe(0);
  list(
    made,
    table.map(({ name, listed }) => [name, listed]),
    "2030-01-02 at 3:04 PM",
  );
  return made;
}

function list(
  { service }: Fixture,
  lists: readonly (readonly [string, readonly number[]])[],
  lastModified: string,
): void {
  for (const [name, listed] of lists) {
    service.change("alice", name, { lastModified, scenarios: listed.map((id) => scenario(id)) });
  }
}

/** The number of live and removed scenarios of each library, and what it owes. */
const counts = ({ query }: Fixture) =>
  query<{ name: string }>(
    `SELECT library_name AS name, count(*) FILTER (WHERE removed_at IS NULL)::int AS live,
       count(*) FILTER (WHERE removed_at IS NOT NULL)::int AS removed, reread_reason
     FROM simcat.scenarios JOIN simcat.library_sync USING (owner, library_name) GROUP BY 1, reread_reason ORDER BY library_name COLLATE "C"`,
  );

const byName = <T extends { name: string }>(rows: T[]): T[] => rows.sort((a, b) => (a.name < b.name ? -1 : 1));

const TABLE = [
  shrinking("10 to 0", ids(1, 10), []),
  shrinking("10 to 6", ids(1, 10), ids(1, 6)),
  shrinking("10 to 7", ids(1, 10), ids(1, 7)),
  shrinking("10 to 10 others", ids(1, 10), ids(11, 20)),
  shrinking("9 to 0", ids(1, 9), []),
  shrinking("9 to 1", ids(1, 9), [5]),
  shrinking("20 to 13", ids(1, 20), ids(8, 20)),
  shrinking("20 to 14", ids(1, 20), ids(7, 20)),
];

test("a list of ten or more that shrinks over the limit marks nothing until the next read confirms it", async () => {
  const made = await shrunkenOrganization(TABLE);

  const first = await made.simcat(["sync"]);

  expect(first.code).toBe(2);
  expect(await counts(made)).toEqual(
    byName([
      { name: "10 to 0", live: 10, removed: 0, reread_reason: "shrunk" },
      { name: "10 to 6", live: 10, removed: 0, reread_reason: "shrunk" },
      { name: "10 to 7", live: 7, removed: 3, reread_reason: null },
      { name: "10 to 10 others", live: 20, removed: 0, reread_reason: "shrunk" },
      { name: "9 to 0", live: 0, removed: 9, reread_reason: null },
      { name: "9 to 1", live: 1, removed: 8, reread_reason: null },
      { name: "20 to 13", live: 20, removed: 0, reread_reason: "shrunk" },
      { name: "20 to 14", live: 14, removed: 6, reread_reason: null },
    ]),
  );
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", scenarios_removed: 26, scenarios_inserted: 10 });
  expect(
    logLines(first)
      .filter(({ code }) => code === "scenario_removals_held")
      .map(({ owner, library: name }) => `${owner}/${name}`)
      .toSorted(),
  ).toEqual(["alice/10 to 0", "alice/10 to 10 others", "alice/10 to 6", "alice/20 to 13"]);
  expect(first.stdout).toContain("the list lacks 10 of 10 scenarios at once");

  expect((await made.simcat(["sync"])).code).toBe(0);

  expect(await counts(made)).toEqual(
    byName([
      { name: "10 to 0", live: 0, removed: 10, reread_reason: null },
      { name: "10 to 6", live: 6, removed: 4, reread_reason: null },
      { name: "10 to 7", live: 7, removed: 3, reread_reason: null },
      { name: "10 to 10 others", live: 10, removed: 10, reread_reason: null },
      { name: "9 to 0", live: 0, removed: 9, reread_reason: null },
      { name: "9 to 1", live: 1, removed: 8, reread_reason: null },
      { name: "20 to 13", live: 13, removed: 7, reread_reason: null },
      { name: "20 to 14", live: 14, removed: 6, reread_reason: null },
    ]),
  );
});

test("a second read marks only the scenarios that the first one lacked too", async () => {
  const made = await shrunkenOrganization([
    shrinking("heals", ids(1, 10), ids(5, 10)),
    shrinking("lacks others", ids(1, 10), ids(5, 10)),
    shrinking("lacks fewer", ids(1, 10), ids(5, 10)),
    shrinking("lacks more", ids(1, 10), ids(5, 10)),
    shrinking("lacks one more", ids(1, 10), ids(5, 10)),
    shrinking("grows", ids(1, 10), []),
  ]);
  expect((await made.call(["sync"])).code).toBe(2);
  list(
    made,
    [
      ["heals", ids(1, 10)],
      ["lacks others", [...ids(1, 4), 9, 10]],
      ["lacks fewer", ids(3, 10)],
      ["lacks more", [9, 10]],
      ["lacks one more", ids(6, 10)],
      ["grows", ids(11, 30)],
    ],
    "2030-01-03 at 3:04 PM",
  );

  expect((await made.call(["sync"])).code).toBe(2);

  expect(await counts(made)).toEqual(
    byName([
      { name: "heals", live: 10, removed: 0, reread_reason: null },
      { name: "lacks others", live: 10, removed: 0, reread_reason: "shrunk" },
      { name: "lacks fewer", live: 8, removed: 2, reread_reason: null },
      { name: "lacks more", live: 6, removed: 4, reread_reason: "shrunk" },
      { name: "lacks one more", live: 5, removed: 5, reread_reason: null },
      { name: "grows", live: 20, removed: 10, reread_reason: null },
    ]),
  );

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual(
    byName([
      { name: "heals", live: 10, removed: 0, reread_reason: null },
      { name: "lacks others", live: 6, removed: 4, reread_reason: null },
      { name: "lacks fewer", live: 8, removed: 2, reread_reason: null },
      { name: "lacks more", live: 2, removed: 8, reread_reason: null },
      { name: "lacks one more", live: 5, removed: 5, reread_reason: null },
      { name: "grows", live: 20, removed: 10, reread_reason: null },
    ]),
  );
});

test("a failed read between the two neither confirms nor discards the missing scenarios", async () => {
  const made = await shrunkenOrganization([shrinking("Fire", ids(1, 10), [])]);
  expect((await made.call(["sync"])).code).toBe(2);
  made.service.always({ operation: "scenarios" }, { kind: "status", status: 500 });

  expect((await made.simcat(["sync"])).code).toBe(69);
  expect(await counts(made)).toEqual([{ name: "Fire", live: 10, removed: 0, reread_reason: "failure" }]);

  made.service.script([]);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual([{ name: "Fire", live: 0, removed: 10, reread_reason: null }]);
});

test("a read with rejects confirms nothing, and a whole one forgets what earlier reads lacked", async () => {
  const made = await shrunkenOrganization([shrinking("Fire", ids(1, 10), ids(5, 10))]);
  const held = [{ name: "Fire", live: 10, removed: 0, reread_reason: "shrunk" }];
  const lastSuccess = () => made.query("SELECT last_success_at::text AS at FROM simcat.library_sync");
  const success = await lastSuccess();
  expect((await made.call(["sync"])).code).toBe(2);
  expect(await counts(made)).toEqual(held);
  expect(await lastSuccess()).toEqual(success);
  const bad = scenario(0, { source: '{"scenarioId":"x"}' });
  for (const [scenarios, reread_reason] of [
    [[...ids(5, 10).map((id) => scenario(id)), bad], "rejects"],
    [ids(1, 10).map((id) => scenario(id)), null],
  ] as const) {
    made.service.change("alice", "Fire", { scenarios });
    await made.call(["sync"]);
    expect(await counts(made)).toEqual([{ name: "Fire", live: 10, removed: 0, reread_reason }]);
    expect(isDeepStrictEqual(await lastSuccess(), success)).toBe(reread_reason !== null);
  }
  list(made, [["Fire", ids(5, 10)]], "2030-01-04 at 3:04 PM");

  expect((await made.simcat(["sync"])).code).toBe(2);
  expect(await counts(made)).toEqual(held);
});

test("a cached list confirms nothing; the first read without a cache does (fault 142)", async () => {
  const made = await shrunkenOrganization([shrinking("Fire", ids(1, 20), ids(1, 5))]);
  for (const age of ["100", "160"]) {
    made.service.always({ operation: "scenarios" }, { kind: "headers", set: { age } });
    expect((await made.call(["sync"])).code).toBe(2);
    expect(await counts(made)).toEqual([{ name: "Fire", live: 20, removed: 0, reread_reason: "shrunk" }]);
  }
  made.service.script([]);

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual([{ name: "Fire", live: 5, removed: 15, reread_reason: null }]);
});

test("--allow-removals skips the guard of scenarios", async () => {
  const made = await shrunkenOrganization(TABLE);

  expect((await made.simcat(["sync", "--allow-removals"])).code).toBe(0);
  expect((await counts(made)).map(({ name, ...rest }) => ({ name, ...rest, removed: undefined }))).toEqual(
    byName(TABLE.map(({ name, listed }) => ({ name, live: listed.length, reread_reason: null, removed: undefined }))),
  );
});
