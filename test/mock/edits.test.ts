import { expect, test } from "vitest";
import { editRandomly } from "../../src/mock/edits.ts";
import { createOrganization, type Organization, organizationOf } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import { createDateSource } from "../support/mock/date-source.ts";
import { EDITS, type EditName, makeAnyEdit } from "../support/mock/edits.ts";
import { changeLibrary, type MockLibrary } from "../support/mock/library.ts";
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

test("a deleted scenario's id does not return, but the scenario can", () => {
  const organization = organizationOf([library("alice", "Lib A", { scenarios: [9] })]);
  expect(edit(organization, "deleteScenario")).toBe("deleted scenario 9 of alice/Lib A");
  expect(read(organization).scenarios).toEqual([]);
  expect(edit(organization, "addParent")).toBe("added scenario 10 to alice/Lib A");
  expect(edit(organization, "restoreScenario")).toBe("restored scenario 9 of alice/Lib A");
  expect(read(organization).scenarios.map((each) => each.scenarioId)).toEqual([10, 9]);
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

test("renaming and moving take the content along under another key", () => {
  const renamed = alice();
  const title = edit(renamed, "renameLibrary").replace("renamed alice/Lib A to ", "");
  expect(renamed.libraries().map(({ owner, name }) => [owner, name])).toEqual([["alice", title]]);
  const moved = alice();
  expect(edit(moved, "moveLibrary")).toBe("moved alice/Lib A to heir-of-alice");
  expect(moved.libraries()).toEqual([{ ...read(alice()), owner: "heir-of-alice", libraryOwner: "heir-of-alice" }]);
});

test("a silent edit changes content and no date", () => {
  const organization = alice();
  edit(organization, "editSilently");
  expect(read(organization)).not.toEqual(read(alice()));
  expect(read(organization).lastModified).toBe("2023-09-11 at 2:56 PM");
  expect(read(organization).scenarios.map((each) => each.lastModified)).toEqual(Array(2).fill("2023-09-11 at 2:56 PM"));
});

test("a backdated upload moves the date before the present one", () => {
  const organization = alice();
  changeLibrary(organization, "alice", "Lib A", { lastModified: TODAY });
  edit(organization, "uploadBackdated");
  const { lastModified } = read(organization);
  expect(Date.parse(`${lastModified?.replace(" at ", " ")} UTC`)).toBeLessThan(NOW.getTime() - 60_000);
});

test("a double edit leaves two changes under one date", () => {
  const organization = alice();
  let tick = 0;
  const running = createDateSource({ clock: () => new Date(NOW.getTime() + 3_600_000 * tick++) });
  EDITS.editTwice(organization, read(organization), createRandom(5), running);
  expect(read(organization).description).toMatch(/^Edited, revision \d+$/);
  const dates = read(organization).scenarios.map((each) => each.lastModified);
  expect([read(organization).lastModified, ...dates].filter((date) => date === TODAY)).toHaveLength(2);
});

test("dates are written in the format and by the clock that are given", () => {
  const organization = alice();
  const slow = createDateSource({ clock: () => new Date("2020-01-02T03:04:05Z"), format: "day", zone: "-11:00" });
  EDITS.editMetadata(organization, read(organization), createRandom(1), slow);
  expect(read(organization).lastModified).toBe("2020-01-01");
});

test("random edits replay from their seed", () => {
  const play = () => {
    const organization = createOrganization({ seed: 1, libraries: 8, scenariosPerLibrary: 5, now: NOW });
    const random = createRandom(9);
    const made = Array.from({ length: 200 }, () => makeAnyEdit(organization, random, dateSource));
    return { made, libraries: organization.libraries() };
  };
  expect(play()).toEqual(play());
  expect(new Set(play().made).size).toBeGreaterThan(10);
});

test("an organization without libraries gets one", () => {
  const organization = organizationOf([]);
  editRandomly(organization, createRandom(1), dateSource);
  expect(organization.libraries().map(({ owner }) => owner)).toEqual(["example.user"]);
});
