import { expect, test } from "vitest";
import { type Fixture, fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

type Ids = readonly number[];
const ids = (from: number, to: number): Ids => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/** Stores libraries with the first lists of ids, and then lists the second ones, with another date. */
async function shrunkenOrganization(
  table: readonly (readonly [name: string, stored: Ids, listed: Ids, ...unknown[]])[],
) {
  const made = await fixture(table.map(([name, stored]) => library("alice", name, { scenarios: stored })));
  expect((await made.call(["sync"])).code).toBe(0);
  for (const [name, , listed] of table) list(made, name, listed, "2030-01-02 at 3:04 PM");
  return made;
}

const list = ({ service }: Fixture, name: string, listed: Ids, lastModified: string) =>
  service.change("alice", name, { lastModified, scenarios: listed.map((id) => scenario(id)) });

/** Of each library, by name: its live and removed scenarios, and why it has to be read again. */
const counts = async ({ query }: Fixture) => {
  const rows = await query<{ name: string; state: string }>(
    `SELECT library_name AS name, concat_ws(' ', count(*) - count(removed_at), 'live', count(removed_at), 'removed', reread_reason) AS state
     FROM simcat.scenarios JOIN simcat.library_sync USING (owner, library_name) GROUP BY 1, reread_reason`,
  );
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
};

test("a list of ten or more that shrinks over the limit marks nothing until a second read confirms it (fault 370)", async () => {
  const table = [
    ["10 to 0", ids(1, 10), [], "10 live 0 removed shrunk", "0 live 10 removed"],
    ["10 to 6", ids(1, 10), ids(1, 6), "10 live 0 removed shrunk", "6 live 4 removed"],
    ["10 to 7", ids(1, 10), ids(1, 7), "7 live 3 removed", "7 live 3 removed"],
    ["10 to 10 others", ids(1, 10), ids(11, 20), "20 live 0 removed shrunk", "10 live 10 removed"],
    ["9 to 0", ids(1, 9), [], "0 live 9 removed", "0 live 9 removed"],
    ["9 to 1", ids(1, 9), [5], "1 live 8 removed", "1 live 8 removed"],
    ["20 to 13", ids(1, 20), ids(8, 20), "20 live 0 removed shrunk", "13 live 7 removed"],
    ["20 to 14", ids(1, 20), ids(7, 20), "14 live 6 removed", "14 live 6 removed"],
  ] as const;
  const made = await shrunkenOrganization(table);

  const first = await made.call(["sync"]);

  expect(first.code).toBe(2);
  expect(await counts(made)).toEqual(Object.fromEntries(table.map(([name, , , state]) => [name, state])));
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", scenarios_removed: 26, scenarios_inserted: 10 });
  const held = ["10 to 0", "10 to 10 others", "10 to 6", "20 to 13"];
  expect(libraryLogLines(first)).toEqual(held.map((name) => `alice/${name} scenario_removals_held`));
  expect(first.stdout).toContain("the list lost 10 of 10 scenarios at once");
  expect((await made.call(["status"])).stdout).toContain("next: run simcat sync: some libraries owe a second read");

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual(Object.fromEntries(table.map(([name, , , , state]) => [name, state])));
});

test("a second read marks only what the first one lacked too; --allow-removals waits for none", async () => {
  const table = [
    ["heals", ids(1, 10), ids(5, 10), ids(1, 10), "10 live 0 removed", "10 live 0 removed"],
    ["lacks others", ids(1, 10), ids(5, 10), [...ids(1, 4), 9, 10], "10 live 0 removed shrunk", "6 live 4 removed"],
    ["lacks fewer", ids(1, 10), ids(5, 10), ids(3, 10), "8 live 2 removed", "8 live 2 removed"],
    ["lacks more", ids(1, 10), ids(5, 10), [9, 10], "6 live 4 removed shrunk", "2 live 8 removed"],
    ["lacks one more", ids(1, 10), ids(5, 10), ids(6, 10), "5 live 5 removed", "5 live 5 removed"],
    ["grows", ids(1, 10), [], ids(11, 30), "20 live 10 removed", "20 live 10 removed"],
  ] as const;
  const made = await shrunkenOrganization(table);
  expect((await made.call(["sync"])).code).toBe(2);
  for (const [name, , , listed] of table) list(made, name, listed, "2030-01-03 at 3:04 PM");

  expect((await made.call(["sync"])).code).toBe(2);
  expect(await counts(made)).toEqual(Object.fromEntries(table.map(([name, , , , state]) => [name, state])));
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual(Object.fromEntries(table.map(([name, , , , , state]) => [name, state])));

  list(made, "grows", [11], "2030-01-04 at 3:04 PM");
  expect((await made.call(["sync", "--allow-removals"])).code).toBe(0);
  expect(await counts(made)).toMatchObject({ grows: "1 live 29 removed" });
});

test("a read with rejects confirms nothing, which no warning denies; a whole one forgets (fault 327)", async () => {
  const made = await shrunkenOrganization([["Fire", ids(1, 10), ids(5, 10)]]);
  const held = { Fire: "10 live 0 removed shrunk" };
  const lastSuccess = () => made.lines("SELECT last_success_at::text FROM simcat.library_sync");
  const success = await lastSuccess();
  const advice =
    "the list lost 4 of 10 scenarios at once; none of them was marked as removed: another read must confirm that";
  expect((await made.call(["sync"])).stdout).toContain(advice);
  expect(await counts(made)).toEqual(held);
  expect(await lastSuccess()).toEqual(success);

  const bad = scenario(0, { source: '{"scenarioId":"x"}' });
  made.service.change("alice", "Fire", { scenarios: [...ids(5, 10).map((id) => scenario(id)), bad] });
  expect((await made.call(["sync"])).code).toBe(2);
  expect(await counts(made)).toEqual({ Fire: "10 live 0 removed rejects" });
  expect(await lastSuccess()).toEqual(success);

  list(made, "Fire", ids(1, 10), "2030-01-03 at 3:04 PM");
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual({ Fire: "10 live 0 removed" });
  expect(await lastSuccess()).not.toEqual(success);
  list(made, "Fire", ids(5, 10), "2030-01-04 at 3:04 PM");

  expect((await made.call(["sync"])).code).toBe(2);
  expect(await counts(made)).toEqual(held);
});

test("a failed or cached read between the two confirms nothing; the next whole one does (fault 142)", async () => {
  const made = await shrunkenOrganization([["Fire", ids(1, 20), ids(1, 5)]]);
  made.service.always({ operation: "scenarios" }, { kind: "headers", set: { age: "40" } });
  expect((await made.call(["sync"])).code).toBe(2);
  made.service.always({ operation: "scenarios" }, { kind: "status", status: 500 });
  expect((await made.call(["sync"])).code).toBe(69);
  expect(await counts(made)).toEqual({ Fire: "20 live 0 removed failure" });
  for (const age of ["100", "160"]) {
    made.service.always({ operation: "scenarios" }, { kind: "headers", set: { age } });
    expect((await made.call(["sync"])).code).toBe(2);
    expect(await counts(made)).toEqual({ Fire: "20 live 0 removed shrunk" });
  }
  made.service.script([]);

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await counts(made)).toEqual({ Fire: "5 live 15 removed" });
});
