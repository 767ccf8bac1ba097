import { expect, test } from "vitest";
import type { LibraryKey } from "../../src/model.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { Fields } from "../support/mock/library.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { always, text } from "./answers.ts";
import { kept, lastRun, libraryLogLines, logLines } from "./run-results.ts";

/** Answers each of the two libraries with the other one's metadata and scenarios, as a proxy that mixes them up. */
function swap({ service }: Fixture, one: LibraryKey, other: LibraryKey): void {
  const { organization } = service;
  const answer = (asked: LibraryKey, sent: LibraryKey) => {
    const from = organization.get(sent.owner, sent.name);
    if (from === undefined) throw new Error(`${sent.owner}/${sent.name} is missing`);
    const match = { owner: asked.owner, library: asked.name };
    return [
      always({ ...match, operation: "metadata" }, text(metadataSource(from))),
      always({ ...match, operation: "scenarios" }, text(`[${from.scenarios.map(scenarioSource)}]`)),
    ];
  };
  service.script([...answer(one, other), ...answer(other, one)]);
}

const suspectReads = ({ lines }: Fixture) =>
  lines("SELECT library_name, suspect_reads FROM simcat.library_sync ORDER BY owner, library_name");

test.each([
  ["two names", library("ann", "Fire", { scenarios: [1] }), library("ann", "Water", { scenarios: [1, 2] })],
  [
    "two names of an organization",
    library("ann", "Fire", { libraryOwner: "Boreal Lab", scenarios: [1] }),
    library("ann", "Water", { libraryOwner: "Boreal Lab", scenarios: [1, 2] }),
  ],
])("swapped answers of %s fail both libraries and overwrite nothing (fault 51)", async (_, one, other) => {
  const made = await syncedFixture([one, other, library("cy", "Other", { scenarios: [1] })]);
  const before = await kept(made.query, [one.name, other.name]);
  for (const { owner, name } of [one, other]) {
    made.service.change(owner, name, { lastModified: NEWER });
  }
  swap(made, one, other);

  const ended = await made.call(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(["ann/Fire mismatched", "ann/Water mismatched"]);
  expect(logLines(ended).map(({ error }) => error)).toContain(
    "the metadata that was received for ann/Fire names ann/Water, another library of this owner, so nothing was overwritten. Does a proxy or cache mix up answers?",
  );
  expect(await kept(made.query, [one.name, other.name])).toEqual(before);
  expect(await lastRun(made.query)).toEqual({
    status: "partial",
    libraries_listed: 3,
    libraries_skipped: 1,
    libraries_failed: 2,
  });

  made.service.script([]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect((await made.call(["verify"])).code).toBe(0);
});

test("metadata of a library whose removal is held is not stored under another name (fault 51)", async () => {
  const names = ["Air", "Earth", "Fire", "Water"];
  const made = await syncedFixture(names.map((name) => library("ann", name, { scenarios: [1] })));
  made.service.remove("ann", "Air");
  made.service.remove("ann", "Earth");
  expect((await made.call(["sync"])).code).toBe(3);
  const before = await kept(made.query, ["Fire"]);
  made.service.change("ann", "Fire", { lastModified: NEWER, metadataFields: { libraryName: "Air" } });

  expect((await made.call(["sync"])).code).toBe(3);
  expect(await made.lines("SELECT failures FROM simcat.library_sync WHERE library_name = 'Fire'")).toEqual(["1"]);
  expect(await kept(made.query, ["Fire"])).toEqual(before);
});

test("a libraryOwner with a library of the same name fails nothing and never settles (fault 48)", async () => {
  const made = await syncedFixture([
    library("ann", "Fire", { libraryOwner: "bob", scenarios: [1] }),
    library("bob", "Fire", { scenarios: [1, 2] }),
  ]);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 2, scenarios_inserted: 3 });
  expect(await suspectReads(made)).toEqual(["Fire 1", "Fire 0"]);

  const edit = { lastModified: NEWER, scenarios: [scenario(1, { scenarioName: "renamed" })] };
  made.service.change("ann", "Fire", edit);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 1, scenarios_updated: 1 });
});

test("swapped answers of one name under two owners heal in the next run (fault 51)", async () => {
  const made = await syncedFixture([
    library("ann", "Fire", { scenarios: [1] }),
    library("bob", "Fire", { scenarios: [1, 2] }),
  ]);
  for (const owner of ["ann", "bob"]) made.service.change(owner, "Fire", { lastModified: NEWER });

  swap(made, { owner: "ann", name: "Fire" }, { owner: "bob", name: "Fire" });
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await suspectReads(made)).toEqual(["Fire 1", "Fire 1"]);

  made.service.script([]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect((await made.call(["verify"])).code).toBe(0);
});

test("metadata that names no listed library is stored with a warning and never settles (fault 48)", async () => {
  const names = ["Fire", "Montréal", "fire"];
  const spelt = ["fire!", "Montre\u0301al", "fire "];
  const made = await fixture(
    names.map((name, at) => library("ann", name, { metadataFields: { libraryName: spelt[at] ?? "" } })),
  );
  const eachSuspect = (reads: number) => names.map((name) => `${name} ${reads}`);

  for (const reads of [1, 2, 3]) {
    const ended = await made.call(["sync", "--json"]);
    expect(ended.code).toBe(0);
    expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 3 });
    expect(await suspectReads(made)).toEqual(eachSuspect(reads));
    const message = expect.stringMatching(/^the metadata of 3 libraries has another libraryName/);
    expect(JSON.parse(ended.stdout).warnings).toEqual([{ code: "content_misnamed", message }]);
  }

  // Rejected metadata leaves the stored one, so the suspicion stays.
  const rename = (metadataFields: Fields) => {
    for (const name of names) made.service.change("ann", name, { metadataFields });
  };
  rename({ fileSize: 5 });
  expect((await made.call(["backfill"])).code).toBe(2);
  expect(await suspectReads(made)).toEqual(eachSuspect(3));

  rename({});
  expect((await made.call(["backfill"])).code).toBe(0);
  expect(await suspectReads(made)).toEqual(eachSuspect(0));
});
