import { expect, test } from "vitest";
import { editRandomly } from "../../src/mock/edits.ts";
import { type Organization, organizationOf } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import { createDateSource } from "../support/mock/date-source.ts";
import { EDITS, type EditName } from "../support/mock/edits.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";

const NOW = new Date("2025-06-01T12:34:56.789Z");
const dateSource = createDateSource({ clock: () => NOW });
const TODAY = "2025-06-01 at 12:34 PM";

function edit(organization: Organization, name: EditName, owner = "alice", title = "Lib A"): string {
  const target = organization.get(owner, title);
  if (target === undefined) throw new Error("no such library");
  return EDITS[name](organization, target, createRandom(5), dateSource);
}

const alice = () => organizationOf([library("alice", "Lib A", { scenarios: [1, scenario(4, { parentId: 1 })] })]);
const read = (organization: Organization): MockLibrary => organization.get("alice", "Lib A") ?? library("nobody", "");

test("running a parent adds a result named after it, under the next id, and dates the library", () => {
  const organization = alice();
  expect(edit(organization, "runParent")).toBe("ran scenario 1 of alice/Lib A: result 5");
  expect(read(organization).scenarios.at(-1)).toEqual({
    scenarioId: 5,
    parentId: 1,
    scenarioName: "Scenario 1 ([1] @ 01-Jun-2025 12:34 PM)",
    isResult: true,
    lastModified: TODAY,
    description: null,
  });
  expect(read(organization).lastModified).toBe(TODAY);
});

test("a deleted scenario's id does not return", () => {
  const organization = organizationOf([library("alice", "Lib A", { scenarios: [9] })]);
  expect(edit(organization, "deleteScenario")).toBe("deleted scenario 9 of alice/Lib A");
  expect(read(organization).scenarios).toEqual([]);
  expect(edit(organization, "addParent")).toBe("added scenario 10 to alice/Lib A");
});

test("editing a scenario dates it and its library", () => {
  const organization = organizationOf([library("alice", "Lib A", { scenarios: [1] })]);
  edit(organization, "editScenario");
  expect(read(organization).scenarios[0]).not.toEqual(scenario(1));
  expect(read(organization).scenarios[0]?.lastModified).toBe(TODAY);
  expect(read(organization).lastModified).toBe(TODAY);
});

test("a removed library is restored unchanged", () => {
  const organization = organizationOf([library("alice", "Lib A", { scenarios: [1] }), library("bob", "Lib B")]);
  const before = read(organization);
  expect(edit(organization, "removeLibrary")).toBe("removed alice/Lib A");
  expect(organization.libraries().map(({ name }) => name)).toEqual(["Lib B"]);
  expect(edit(organization, "restoreLibrary", "bob", "Lib B")).toBe("restored alice/Lib A");
  expect(read(organization)).toBe(before);
});

test("an organization without libraries gets one", () => {
  const organization = organizationOf([]);
  editRandomly(organization, createRandom(1), dateSource);
  expect(organization.libraries().map(({ owner }) => owner)).toEqual(["example.user"]);
});
