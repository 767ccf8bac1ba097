import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { createOrganization, type Organization } from "../../src/mock/organization.ts";
import { entrySource } from "../support/mock/answer.ts";

const NOW = new Date("2025-06-01T12:00:00Z");

const digest = (organization: Organization): string =>
  createHash("sha256").update(JSON.stringify(organization.libraries())).digest("hex");

test("the same seed gives the same bytes, another seed others", () => {
  const create = (seed: number) => createOrganization({ seed, libraries: 60, scenariosPerLibrary: 12, now: NOW });
  expect(digest(create(1))).toBe(digest(create(1)));
  expect(digest(create(1))).not.toBe(digest(create(2)));
});

test("the same seed gives the same names and dates on every machine", () => {
  const tiny = createOrganization({ seed: 10, libraries: 3, scenariosPerLibrary: 5, now: NOW });
  expect(tiny.libraries().map(entrySource)).toMatchInlineSnapshot(`
    [
      "{"libraryName":"Protected Areas Multispecies Connectivity (Mono Lake, California)","uploadUser":"example.user","lastModified":"2024-04-20 at 10:52 PM"}",
      "{"libraryName":"Forest Carbon - Revelstoke, British Columbia","uploadUser":"example.user","lastModified":"2025-05-28 at 2:30 AM"}",
      "{"libraryName":"Urban Growth - Revelstoke, British Columbia","uploadUser":"example.user","lastModified":"2024-01-09 at 3:04 PM"}",
    ]
  `);
});

const large = createOrganization({ seed: 1, libraries: 2_000, scenariosPerLibrary: 20, now: NOW });
const libraries = large.libraries();
const MINUTE_TEXT = /^20\d\d-[01]\d-[0-3]\d at (?:[1-9]|1[0-2]):[0-5]\d [AP]M$/;
const parse = (text: string | null): number => Date.parse(`${text?.replace(" at ", " ")} UTC`);

test("libraries are distinct, a date is that of the latest scenario, ids ascend, and results have a parent", () => {
  const wrong = libraries.flatMap(({ name, owner, lastModified, scenarios }) => {
    const dates = scenarios.map((each) => parse(each.lastModified));
    const ids = scenarios.map(({ scenarioId }) => scenarioId);
    const parents = new Set(scenarios.flatMap((each) => (each.isResult ? [] : [each.scenarioId])));
    const isRight =
      /^[a-z]+[.-][a-z]+\d*$/.test(owner) &&
      MINUTE_TEXT.test(lastModified ?? "") &&
      (dates.length === 0 || Math.max(...dates) === parse(lastModified)) &&
      ids.every((id, at) => id > (ids[at - 1] ?? 0)) &&
      scenarios.every(({ isResult, parentId }) => (isResult ? parents.has(parentId ?? 0) : parentId === null));
    return isRight ? [] : [name];
  });
  expect(wrong).toEqual([]);
  expect(large.size).toBe(2_000);
});
