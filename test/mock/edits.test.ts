import { expect, test } from "vitest";
import { editRandomly } from "../../src/mock/edits.ts";
import { createOrganization, organizationOf } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import { createDateSource } from "../support/mock/date-source.ts";
import { EDITS, type EditName, makeAnyEdit } from "../support/mock/edits.ts";
import type { MockLibrary, MockScenario } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";

const NOW = new Date("2025-06-01T12:34:56.789Z");
const dateSource = createDateSource({ clock: () => NOW });
const TODAY = "2025-06-01 at 12:34 PM";
const OLD = "2023-09-11 at 2:56 PM";

/** An organization with one library, in which edits are made one after the other. */
function organizationWith(...scenarios: readonly (number | MockScenario)[]) {
  const organization = organizationOf([library("alice", "Lib A", { scenarios })]);
  const read = (): MockLibrary => organization.libraries()[0] ?? library("nobody", "");
  const edit = (name: EditName, source = dateSource) => EDITS[name](organization, read(), createRandom(5), source);
  return { organization, read, edit };
}

test("running a parent adds a result named after it, under the next id, and dates the library", () => {
  const { edit, read } = organizationWith(1, scenario(4, { parentId: 1 }));
  expect(edit("runParent")).toBe("ran scenario 1 of alice/Lib A: result 5");
  expect(read().lastModified).toBe(TODAY);
  expect(read().scenarios.at(-1)).toEqual({
    scenarioId: 5,
    parentId: 1,
    scenarioName: "Scenario 1 ([1] @ 01-Jun-2025 12:34 PM)",
    isResult: true,
    lastModified: TODAY,
    description: null,
  });
});

test("a deleted scenario's id does not return, but the scenario can", () => {
  const { edit, read } = organizationWith(9);
  expect(edit("deleteScenario")).toBe("deleted scenario 9 of alice/Lib A");
  expect(edit("addParent")).toBe("added scenario 10 to alice/Lib A");
  expect(edit("restoreScenario")).toBe("restored scenario 9 of alice/Lib A");
  expect(read().scenarios.map((each) => each.scenarioId)).toEqual([10, 9]);
});

test("a removed library is restored unchanged", () => {
  const { organization, edit, read } = organizationWith(1);
  const before = read();
  organization.put(library("bob", "Lib B"));
  expect(edit("removeLibrary")).toBe("removed alice/Lib A");
  expect(organization.libraries().map(({ name }) => name)).toEqual(["Lib B"]);
  expect(edit("restoreLibrary")).toBe("restored alice/Lib A");
  expect(organization.get("alice", "Lib A")).toBe(before);
});

test("a silent edit changes content and no date", () => {
  const { edit, read } = organizationWith(1);
  edit("editSilently");
  expect(read()).not.toEqual(organizationWith(1).read());
  expect([read().lastModified, read().scenarios[0]?.lastModified]).toEqual([OLD, OLD]);
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
