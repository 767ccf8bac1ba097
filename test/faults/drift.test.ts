import { expect, test } from "vitest";
import { changeLibrary } from "../../src/mock/edit-library.ts";
import type { Fields, MockScenario } from "../../src/mock/types.ts";
import { type Fixture, fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { kept, lastRun, libraryLogLines, logLines } from "./run-results.ts";

// Several consecutive CLI runs.
const NOW = "2030-01-02 at 3:04 PM";
const LATER = "2030-02-03 at 4:05 PM";
const FIELDS = ["scenarioName", "isResult", "lastModified"] as const;

const idsTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
const without = (field: string) => (id: number) => scenario(id, { fields: { [field]: undefined } });
const named = (count: number) => Array.from({ length: count }, (_, at) => `lib ${String(at).padStart(2, "0")}`);
const failures = (libraries: readonly string[], code = "drift") =>
  libraries.map((name) => ({ owner: "alice", library: name, code }));

/** Replaces the scenario list of one of alice's libraries, with a date. */
function relist({ service }: Fixture, name: string, scenarios: readonly MockScenario[], lastModified = NOW): void {
  service.edit((organization) => changeLibrary(organization, "alice", name, { lastModified, scenarios }));
}

function redescribe({ service }: Fixture, name: string, metadataFields: Fields, lastModified = NOW): void {
  service.edit((organization) => changeLibrary(organization, "alice", name, { lastModified, metadataFields }));
}

const owing = ({ query }: Fixture) =>
  query(
    "SELECT library_name AS name, reread_reason, failures FROM simcat.library_sync WHERE reread_reason IS NOT NULL ORDER BY 1",
  );

test("three known scenarios that lose a field fail their library, whatever others have (fault 52)", async () => {
  const made = await fixture([
    ...FIELDS.map((field) => library("alice", field, { scenarios: [1, 2, 3] })),
    ...FIELDS.map((field) => library("alice", `two ${field}`, { scenarios: [1, 2] })),
    library("alice", "some", { scenarios: [1, 2, 3] }),
  ]);
  await made.simcat(["sync"]);
  const before = await kept(made.query, FIELDS);
  for (const field of FIELDS) {
    relist(made, field, [...idsTo(3).map(without(field)), scenario(4)]);
    relist(made, `two ${field}`, idsTo(2).map(without(field)));
  }
  relist(made, "some", [...idsTo(2).map(without("isResult")), scenario(3, { fields: { isResult: null as never } })]);

  const drifted = await made.simcat(["sync"]);

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(FIELDS.toSorted()));
  for (const field of FIELDS) {
    expect(logLines(drifted).find(({ library }) => library === field)?.error).toMatch(
      new RegExp(`^all 3 scenarios whose stored rows have the field ${field} lack it now\\. .* docs/operations\\.md`),
    );
  }
  expect(await kept(made.query, FIELDS)).toEqual(before);
  expect(await owing(made)).toEqual(FIELDS.toSorted().map((name) => ({ name, reread_reason: "failure", failures: 1 })));
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 4, libraries_failed: 3, scenarios_updated: 9 });
});

test("drift fails every run until the service sends the field again (fault 52)", async () => {
  const made = await fixture([library("alice", "Fire", { scenarios: [1, 2, 3] })]);
  await made.simcat(["sync"]);
  const before = await kept(made.query, ["Fire"]);
  for (const [at, lastModified] of [NOW, LATER, LATER].entries()) {
    relist(made, "Fire", idsTo(3).map(without("scenarioName")), lastModified);
    const ended = await made.simcat(["sync"]);
    expect(ended.code).toBe(2);
    expect(libraryLogLines(ended)).toEqual(failures(["Fire"]));
    expect(await kept(made.query, ["Fire"])).toEqual(before);
    expect(await owing(made)).toEqual([{ name: "Fire", reread_reason: "failure", failures: at + 1 }]);
  }

  relist(made, "Fire", [scenario(1, { scenarioName: "renamed" }), scenario(2), scenario(3)], LATER);

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_updated: 1 });
  expect(await owing(made)).toEqual([]);
});

test("the statement in docs/operations.md accepts a permanently removed field", async () => {
  const made = await fixture([library("alice", "Fire", { scenarios: [1, 2, 3] })]);
  await made.simcat(["sync"]);
  relist(made, "Fire", idsTo(3).map(without("isResult")));
  expect((await made.simcat(["sync"])).code).toBe(2);

  await made.query("UPDATE simcat.scenarios SET raw = raw - 'isResult'");

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await made.query("SELECT is_result, count(*)::int AS rows FROM simcat.scenarios GROUP BY 1")).toEqual([
    { is_result: null, rows: 3 },
  ]);
  expect(await made.query("SELECT is_result, count(*)::int AS rows FROM simcat.scenario_history GROUP BY 1")).toEqual([
    { is_result: false, rows: 3 },
  ]);
});

test("twenty items in a run without a field fail each library that would lose it (fault 53)", async () => {
  const names = named(10);
  const made = await fixture([
    ...names.map((name) => library("alice", name, { scenarios: [1, 2] })),
    library("alice", "other", { scenarios: [1] }),
  ]);
  await made.simcat(["sync"]);
  const before = await kept(made.query, names);
  for (const name of names) relist(made, name, idsTo(2).map(without("scenarioName")));
  made.asked();

  const drifted = await made.simcat(["sync"]);

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(names));
  expect(await kept(made.query, names)).toEqual(before);
  // A field that is missing from the whole run causes no second read.
  expect(made.asked()).toHaveLength(1 + 2 * names.length);

  relist(made, "other", [scenario(1, { fields: { scenarioName: null } })]);
  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 11, scenarios_updated: 21 });
});

test("nineteen items in a run without a field are edits: stored in that run and counted once (fault 53)", async () => {
  const names = named(10);
  const made = await fixture(names.map((name, at) => library("alice", name, { scenarios: at === 0 ? [1] : [1, 2] })));
  await made.simcat(["sync"]);
  for (const [at, name] of names.entries()) relist(made, name, idsTo(at === 0 ? 1 : 2).map(without("scenarioName")));

  const ended = await made.simcat(["sync"]);

  expect(ended.code).toBe(0);
  expect(await lastRun(made.query)).toEqual({
    status: "ok",
    libraries_listed: 10,
    libraries_read: 10,
    libraries_changed: 10,
    scenarios_updated: 19,
  });
});

test("the only library of a run is judged immediately, without a second read", async () => {
  const made = await fixture([library("alice", "Fire", { scenarios: [1, 2] }), library("alice", "Water")]);
  await made.simcat(["sync"]);
  relist(made, "Fire", idsTo(2).map(without("scenarioName")));
  redescribe(made, "Fire", { packageName: undefined });
  made.asked();

  expect((await made.simcat(["sync", "--library", "alice/Fire"])).code).toBe(0);
  expect(made.asked()).toHaveLength(3);
  expect(await made.query("SELECT count(scenario_name)::int AS names FROM simcat.scenarios")).toEqual([{ names: 0 }]);
});

test("a service that omits isResult when it is false never drifts (fault 55)", async () => {
  const parents = (last: number) => idsTo(last).map(without("isResult"));
  const result = scenario(30, { parentId: 1 });
  const made = await fixture([
    library("alice", "loses results", { scenarios: [...parents(25), result] }),
    library("alice", "only parents", { scenarios: parents(25) }),
    library("alice", "reuploaded", { scenarios: [...parents(5), result] }),
    library("alice", "untouched", { scenarios: [...parents(2), result] }),
  ]);
  await made.simcat(["sync"]);
  made.service.edit((organization) => organization.put(library("alice", "new", { scenarios: parents(25) })));
  expect((await made.simcat(["sync"])).code).toBe(0);

  relist(made, "loses results", parents(25));
  relist(
    made,
    "only parents",
    idsTo(26).map((id) => scenario(id, { description: "after", fields: { isResult: undefined } })),
  );
  relist(made, "reuploaded", idsTo(60, 31).map(without("isResult")));

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 3, scenarios_removed: 7 });
});

test("twenty other scenarios without a field that every stored scenario has are drift", async () => {
  const made = await fixture([library("alice", "Fire", { scenarios: idsTo(25) })]);
  await made.simcat(["sync"]);
  const before = await kept(made.query, ["Fire"]);
  relist(made, "Fire", idsTo(50, 31).map(without("lastModified")));

  const drifted = await made.simcat(["sync", "--allow-removals"]);

  expect(libraryLogLines(drifted)).toEqual(failures(["Fire"]));
  expect(drifted.stdout).toContain("not one of the 20 scenarios that this run read has the field lastModified");
  expect(await kept(made.query, ["Fire"])).toEqual(before);
});

test("an empty list and a new library are stored during drift", async () => {
  const made = await fixture([
    library("alice", "drifts", { scenarios: idsTo(20) }),
    library("alice", "empties", { scenarios: [1] }),
    library("alice", "fills", { scenarios: [] }),
  ]);
  await made.simcat(["sync"]);
  relist(made, "drifts", idsTo(20).map(without("scenarioName")));
  relist(made, "empties", []);
  relist(made, "fills", idsTo(30).map(without("scenarioName")));
  made.service.edit((organization) =>
    organization.put(library("alice", "new", { scenarios: idsTo(25).map(without("scenarioName")) })),
  );

  const drifted = await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "1" });

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(["drifts"]));
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 3, scenarios_inserted: 55, scenarios_removed: 1 });
});

test("a staged list drifts like a list in memory and leaves the staging table empty", async () => {
  const ids = idsTo(3_500);
  const made = await fixture([
    library("alice", "long", { scenarios: ids }),
    library("alice", "two", { scenarios: [1] }),
  ]);
  await made.simcat(["sync"]);
  const before = await kept(made.query, ["long"]);
  relist(made, "long", ids.map(without("isResult")));
  relist(made, "two", idsTo(3_600, 2).map(without("isResult")));

  const drifted = await made.simcat(["sync", "--allow-removals"]);

  expect(libraryLogLines(drifted)).toEqual(failures(["long", "two"]));
  expect(logLines(drifted).map(({ error }) => error)).toContainEqual(
    expect.stringContaining("all 3500 scenarios whose stored rows have the field isResult lack it now"),
  );
  expect(await kept(made.query, ["long"])).toEqual(before);
  expect(await made.query("SELECT FROM simcat.scenario_staging")).toEqual([]);
});

test("the rejects of a drifted list are kept, and its item is counted once", async () => {
  const made = await fixture([library("alice", "Fire", { scenarios: [1, 2, 3] })]);
  await made.simcat(["sync"]);
  relist(made, "Fire", [...idsTo(3).map(without("isResult")), scenario(0, { source: '{"scenarioId":"x"}' })]);

  const drifted = await made.simcat(["sync"]);

  expect(drifted.code).toBe(2);
  expect(
    await made.query("SELECT library_name AS name, payload FROM simcat.rejects WHERE resolved_at IS NULL"),
  ).toEqual([{ name: "Fire", payload: '{"scenarioId":"x"}' }]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_failed: 1, rejects: 1 });
});

test("metadata fields lost by all three libraries of a run fail them; two are edits (fault 54)", async () => {
  const lost = ["libraryOwner", "lastModified", "fileSize", "packageName", "packageVersion", "description"];
  const three = ["a", "b", "c"];
  const made = await fixture(three.map((name) => library("alice", name)));
  await made.simcat(["sync"]);
  const before = await kept(made.query, three);
  for (const name of three) redescribe(made, name, Object.fromEntries(lost.map((field) => [field, undefined])));

  const drifted = await made.simcat(["sync"]);

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(three));
  for (const field of lost) {
    expect(drifted.stdout).toContain(`the metadata lacks the field ${field}, and so does that of all 3 libraries`);
  }
  expect(await kept(made.query, three)).toEqual(before);

  expect((await made.simcat(["sync", "--library", "alice/a", "--library", "alice/b"])).code).toBe(0);
  expect(
    await made.query("SELECT library_name AS name, package_name FROM simcat.libraries ORDER BY library_name"),
  ).toEqual([
    { name: "a", package_name: null },
    { name: "b", package_name: null },
    { name: "c", package_name: "landscape" },
  ]);
});

test("metadata fields that one library of the run kept are edits, stored in that run (fault 54)", async () => {
  const made = await fixture(["a", "b", "c", "d"].map((name) => library("alice", name, { description: name })));
  await made.simcat(["sync"]);
  for (const name of ["a", "b", "c"]) redescribe(made, name, { description: undefined });
  redescribe(made, "d", { description: null });

  expect((await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "1" })).code).toBe(0);
  expect(await made.query("SELECT library_name AS name FROM simcat.libraries WHERE description IS NOT NULL")).toEqual(
    [],
  );
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 4, libraries_changed: 4 });
});

test("a description that one library loses is stored in the run that reads it", async () => {
  const made = await fixture([
    library("alice", "Fire", { description: "text" }),
    library("alice", "Never had one", { metadataFields: { description: undefined } }),
  ]);
  await made.simcat(["sync"]);
  redescribe(made, "Fire", { description: undefined });
  redescribe(made, "Never had one", { description: undefined, fileSize: "1 MB" });
  made.asked();

  expect((await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "1" })).code).toBe(0);
  expect(await made.query("SELECT description FROM simcat.libraries WHERE library_name = 'Fire'")).toEqual([
    { description: null },
  ]);
  // The listing, both libraries, and the second read of the deferred one.
  expect(made.asked()).toHaveLength(1 + 2 * 3);
});

test("a run that ends early leaves its deferred libraries unread", async () => {
  const made = await fixture([
    library("alice", "deferred", { description: "text" }),
    library("alice", "throttled", { metadataFields: { description: undefined } }),
  ]);
  await made.simcat(["sync"]);
  const before = await kept(made.query, ["deferred"]);
  redescribe(made, "deferred", { description: undefined });
  redescribe(made, "throttled", { description: undefined, fileSize: "1 MB" });
  made.service.script([
    {
      match: { library: "throttled", operation: "metadata" },
      action: { kind: "status", status: 429, headers: { "retry-after": "3600" } },
    },
  ]);

  expect((await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "1" })).code).toBe(69);
  expect(await kept(made.query, ["deferred"])).toEqual(before);
  expect(await owing(made)).toEqual([]);

  expect((await made.simcat(["sync"])).code).toBe(0);
  expect(await made.query("SELECT description FROM simcat.libraries WHERE library_name = 'deferred'")).toEqual([
    { description: null },
  ]);
});
