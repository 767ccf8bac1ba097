import { expect, test } from "vitest";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import type { Fields, MockScenario } from "../support/mock/library.ts";
import { library, NEWER, OLD, scenario } from "../support/organization.ts";
import { always } from "./answers.ts";
import { kept, lastRun, libraryLogLines, logLines, owing } from "./run-results.ts";

const LATER = "2030-02-03 at 4:05 PM";
const FIELDS = ["scenarioName", "isResult", "lastModified"] as const;

const idsTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
const without = (field: string) => (id: number) => scenario(id, { fields: { [field]: undefined } });
const named = (count: number) => Array.from({ length: count }, (_, at) => `lib ${String(at).padStart(2, "0")}`);
const failures = (libraries: readonly string[]) => libraries.map((name) => `alice/${name} drift`);

/** Replaces the scenario list of one of alice's libraries, with a date. */
function relist({ service }: Fixture, name: string, scenarios: readonly MockScenario[], lastModified = NEWER): void {
  service.change("alice", name, { lastModified, scenarios });
}

function redescribe({ service }: Fixture, name: string, metadataFields: Fields, lastModified = NEWER): void {
  service.change("alice", name, { lastModified, metadataFields });
}

test("three known scenarios that lose a field fail their library in every run, until it returns (fault 52)", async () => {
  const made = await syncedFixture([
    ...FIELDS.map((field) => library("alice", field, { scenarios: [1, 2, 3] })),
    ...FIELDS.map((field) => library("alice", `two ${field}`, { scenarios: [1, 2] })),
    library("alice", "some", { scenarios: [1, 2, 3] }),
  ]);
  const before = await kept(made.query, FIELDS);
  for (const field of FIELDS) {
    relist(made, field, [...idsTo(3).map(without(field)), scenario(4)]);
    relist(made, `two ${field}`, idsTo(2).map(without(field)));
  }
  relist(made, "some", [...idsTo(2).map(without("isResult")), scenario(3, { fields: { isResult: null as never } })]);
  const sorted = FIELDS.toSorted();

  const drifted = await made.call(["sync"]);

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(sorted));
  for (const field of FIELDS) {
    const message = `^the field ${field} is gone: each scenario .* lacks it now \\(3 stored\\)\\. .* docs/operations\\.md`;
    expect(logLines(drifted).find(({ library }) => library === field)?.error).toMatch(new RegExp(message));
  }
  expect(await kept(made.query, FIELDS)).toEqual(before);
  expect(await owing(made)).toEqual(sorted.map((name) => `${name} failure 1`));
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 4, libraries_failed: 3, scenarios_updated: 9 });

  for (const field of FIELDS) relist(made, field, idsTo(3).map(without(field)), LATER);
  expect(libraryLogLines(await made.call(["sync"]))).toEqual(failures(sorted));
  expect(await kept(made.query, FIELDS)).toEqual(before);
  expect(await owing(made)).toEqual(sorted.map((name) => `${name} failure 2`));

  for (const field of FIELDS) {
    relist(made, field, [scenario(1, { scenarioName: "renamed" }), scenario(2), scenario(3)], LATER);
  }
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", scenarios_updated: 3 });
  expect(await owing(made)).toEqual([]);
});

test("the statement in docs/operations.md accepts a permanently removed field", async () => {
  const made = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2, 3] })]);
  relist(made, "Fire", idsTo(3).map(without("isResult")));
  expect((await made.call(["sync"])).code).toBe(2);

  await made.query("UPDATE simcat.scenarios SET raw = raw - 'isResult'");

  expect((await made.call(["sync"])).code).toBe(0);
  const values = (table: string) => made.lines(`SELECT is_result, count(*) FROM simcat.${table} GROUP BY 1`);
  expect(await values("scenarios")).toEqual(["NULL 3"]);
  expect(await values("scenario_history")).toEqual(["false 3"]);
});

test("a lost field is drift if other libraries lost it without a new date, whatever the field (fault 53)", async () => {
  const names = named(12);
  const made = await syncedFixture(
    names.map((name) => library("alice", name, { scenarios: [1, 2], description: "text" })),
  );
  const before = await kept(made.query, names);
  for (const [at, name] of names.entries()) {
    relist(made, name, idsTo(2).map(without("scenarioName")), at < 4 ? NEWER : OLD);
    redescribe(made, name, { description: undefined }, at < 4 ? NEWER : OLD);
  }
  made.asked();

  const drifted = await made.call(["sync"]);

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(names.slice(0, 4)));
  for (const text of ["the field scenarioName is gone", "the metadata lacks the field description"]) {
    expect(drifted.stdout).toContain(text);
  }
  expect(await kept(made.query, names)).toEqual(before);
  // The listing, four libraries, and three others for each field, all without a new date.
  expect(made.asked()).toHaveLength(1 + 2 * (4 + 3 + 3));

  relist(made, "lib 04", [scenario(1)], OLD);
  redescribe(made, "lib 04", {}, OLD);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 4, libraries_changed: 4, scenarios_updated: 8 });
});

test("metadata fields that four of five libraries lost are edits of each (fault 53)", async () => {
  const fields = ["libraryOwner", "lastModified", "fileSize", "packageName", "packageVersion", "description"];
  const made = await syncedFixture(named(5).map((name) => library("alice", name, { description: name })));
  for (const name of named(3)) redescribe(made, name, Object.fromEntries(fields.map((field) => [field, undefined])));
  redescribe(made, "lib 03", { libraryName: undefined });

  expect((await made.call(["sync"], { SIMCAT_CONCURRENCY: "1" })).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 4, libraries_changed: 4 });
});

test("a library that gains a field hides no drift, and a removed one shows none (fault 53)", async () => {
  const made = await syncedFixture([
    ...named(5).map((name) => library("alice", name, { description: name })),
    library("alice", "gains", { metadataFields: { description: undefined } }),
    library("alice", "removed", { description: "text" }),
  ]);
  const before = await kept(made.query, named(3));
  for (const [at, name] of named(5).entries()) redescribe(made, name, { description: undefined }, at < 3 ? NEWER : OLD);
  redescribe(made, "gains", { description: "text" });
  made.service.remove("alice", "removed");

  const drifted = await made.call(["sync"]);

  expect(drifted.code).toBe(2);
  expect(libraryLogLines(drifted)).toEqual(failures(named(3)));
  expect(await kept(made.query, named(3))).toEqual(before);
});

test("unclear answers of the others fail the library, and the next run asks again (faults 53 and 188)", async () => {
  const made = await syncedFixture(
    named(5).map((name) => library("alice", name, { scenarios: [1, 2], description: name })),
  );
  redescribe(made, "lib 00", { description: undefined });
  relist(made, "lib 01", idsTo(2).map(without("isResult")));
  made.service.script([
    always({ library: "lib 02" }, { kind: "status", status: 404 }),
    always({ library: "lib 03" }, { kind: "headers", set: { age: "10" } }),
    always({ library: "lib 04" }, { kind: "alterItem", index: 0, set: { libraryName: "another" } }),
  ]);

  const unclear = await made.call(["sync"]);
  expect(libraryLogLines(unclear)).toEqual(failures(named(2)));
  expect(unclear.stdout).toContain("that may be an edit, but no other library that had it could be compared");
  expect(unclear.stdout).not.toContain("still has it");

  made.service.script([]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 2, libraries_changed: 2 });
});

test("a library whose scenarios were deleted says nothing about a lost field (fault 406)", async () => {
  const made = await syncedFixture(named(2).map((name) => library("alice", name, { scenarios: [1] })));
  relist(made, "lib 00", [without("isResult")(1)]);
  relist(made, "lib 01", []);
  const { code, stdout } = await made.call(["sync", "--allow-removals"]);
  expect(code).toBe(2);
  expect(stdout).toContain("that may be an edit, but no other library that had it could be compared");
});

test("an answer that a library gave about a lost field decides about others only (fault 192)", async () => {
  const made = await syncedFixture(named(2).map((name) => library("alice", name, { description: name })));
  redescribe(made, "lib 00", { description: "text" });
  redescribe(made, "lib 01", { description: undefined });
  // Only the first answer lacks the description: "lib 00" asks "lib 01", which has lost it.
  const match = { library: "lib 00", operation: "metadata" } as const;
  made.service.once(match, { kind: "alterItem", index: 0, remove: ["description"] });

  const run = await made.call(["sync"], { SIMCAT_CONCURRENCY: "1" });

  expect(libraryLogLines(run)).toEqual(failures(["lib 00"]));
  expect(await made.lines("SELECT library_name, description FROM simcat.libraries ORDER BY 1")).toEqual([
    "lib 00 lib 00",
    "lib 01 NULL",
  ]);
});

test("asks listed libraries about a lost field, although all are held and many missing (faults 194, 257)", async () => {
  const names = named(26);
  const made = await syncedFixture(names.map((name) => library("alice", name, { description: name })));
  made.service.once({ operation: "listing" }, { kind: "dropItems" });
  expect((await made.call(["sync"])).code).toBe(3);
  redescribe(made, "lib 24", { description: undefined });
  redescribe(made, "lib 25", { description: undefined }, OLD);
  for (const name of names.slice(0, 24)) made.service.remove("alice", name);
  made.service.once({ operation: "listing" }, { kind: "headers", set: { age: "600" } });

  expect(libraryLogLines(await made.call(["sync"]))).toEqual(failures(["lib 24"]));
  expect(await made.lines("SELECT count(description) FROM simcat.libraries")).toEqual(["26"]);
});

test("a service that omits isResult when it is false never drifts (fault 55)", async () => {
  const parents = (last: number) => idsTo(last).map(without("isResult"));
  const result = scenario(30, { parentId: 1 });
  const made = await syncedFixture([
    library("alice", "loses results", { scenarios: [...parents(25), result] }),
    library("alice", "only parents", { scenarios: parents(25) }),
    library("alice", "reuploaded", { scenarios: [...parents(5), result] }),
    library("alice", "untouched", { scenarios: [...parents(2), result] }),
  ]);
  made.service.put(library("alice", "new", { scenarios: parents(25) }));
  expect((await made.call(["sync"])).code).toBe(0);

  relist(made, "loses results", parents(25));
  relist(
    made,
    "only parents",
    idsTo(26).map((id) => scenario(id, { description: "after", fields: { isResult: undefined } })),
  );
  relist(made, "reuploaded", idsTo(60, 31).map(without("isResult")));

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 3, scenarios_removed: 7 });
});

test("a staged list drifts like a list in memory and leaves the staging table empty", async () => {
  const ids = idsTo(3_500);
  const made = await syncedFixture([
    library("alice", "long", { scenarios: ids }),
    library("alice", "two", { scenarios: [1] }),
  ]);
  const before = await kept(made.query, ["long"]);
  relist(made, "long", ids.map(without("isResult")));
  relist(made, "two", idsTo(3_600, 2).map(without("isResult")));

  const drifted = await made.call(["sync", "--allow-removals"]);

  expect(libraryLogLines(drifted)).toEqual(failures(["long", "two"]));
  expect(drifted.stdout).toContain(
    "the field isResult is gone: each scenario whose stored row has it lacks it now (3,500 stored)",
  );
  expect(await kept(made.query, ["long"])).toEqual(before);
  expect(await made.query("SELECT FROM simcat.scenario_staging")).toEqual([]);
});

test("a drifted list keeps its rejects, and a summary claims only that stored content stays (fault 321)", async () => {
  const made = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2, 3] }), library("alice", "Water")]);
  made.service.remove("alice", "Water");
  await made.call(["sync", "--allow-removals"]);
  relist(made, "Fire", [
    ...idsTo(3).map(without("isResult")),
    scenario(4),
    scenario(0, { source: '{"scenarioId":"x"}' }),
  ]);
  made.service.put(library("alice", "Water"));
  made.service.always({ operation: "metadata", library: "Water" }, { kind: "status", status: 403 });

  const { stdout } = await made.call(["sync"]);

  expect(stdout.split("\n").slice(-3)).toEqual([
    "             their stored content stays; they are read again, see: simcat status",
    "  rejects    1 wrong_type; see: simcat status",
    "",
  ]);
  const open = "SELECT library_name, payload FROM simcat.rejects WHERE resolved_at IS NULL";
  expect(await made.lines(open)).toEqual(['Fire {"scenarioId":"x"}']);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_failed: 2, rejects: 1 });
  const rows = `SELECT library_name, removed_at IS NULL FROM simcat.libraries
    UNION ALL SELECT scenario_id::text, true FROM simcat.scenarios WHERE scenario_id = 4`;
  expect(await made.lines(rows)).toEqual(["Fire true", "Water true"]);
});
