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
const RESULT_NAME = /\(\[\d+\] @ \d\d-[A-Z][a-z]{2}-20\d\d \d+:\d\d [AP]M\)$/;
const DAY_MS = 86_400_000;
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

test("its figures are those of a lifelike organization", () => {
  const count = (isCounted: (library: (typeof libraries)[number]) => boolean) => libraries.filter(isCounted).length;
  const owners = [...new Set(libraries.map(({ owner }) => owner))];
  const librariesOf = owners.map((name) => count(({ owner }) => owner === name));
  const ages = libraries.map(({ lastModified }) => (NOW.getTime() - parse(lastModified)) / DAY_MS);
  const all = libraries.flatMap(({ scenarios }) => scenarios);
  const results = all.filter(({ isResult }) => isResult);
  const hasSize = (form: RegExp) => count(({ fileSize }) => form.test(fileSize ?? ""));
  const neverRun = libraries.flatMap(({ scenarios }) => {
    const run = new Set(scenarios.map(({ parentId }) => parentId));
    return scenarios.filter(({ isResult, scenarioId }) => !isResult && !run.has(scenarioId));
  });
  const figures = [
    ["owners", owners.length, 44],
    ["libraries of the largest owner", Math.max(...librariesOf), 564],
    ["days since the oldest date", Math.floor(Math.max(...ages)), 914],
    ["dates in the future", ages.filter((age) => age < 0).length, 0],
    ["dates of the last month", ages.filter((age) => age <= 30).length, 667],
    ["scenarios", all.length, 39_450],
    ["lists of ids with gaps", count(({ scenarios }) => (scenarios.at(-1)?.scenarioId ?? 0) > scenarios.length), 1_432],
    ["results", results.length, 24_268],
    [
      "results named after their parent",
      results.filter((one) => RESULT_NAME.test(one.scenarioName ?? "")).length,
      23_011,
    ],
    ["parents that were never run", neverRun.length, 5_817],
    ["sizes in KB", hasSize(/^\d+ KB$/), 306],
    ["sizes in MB", hasSize(/^\d+ MB$/), 1_096],
    ["sizes in bytes too", hasSize(/^\d+ KB {2}\(\d{1,3}(?:,\d{3})* B\)$/), 598],
    ["versions of packages", new Set(libraries.map((each) => `${each.packageName} ${each.packageVersion}`)).size, 13],
    ["libraries without a description", count(({ description }) => description === null), 789],
    ["long descriptions", count(({ description }) => (description?.length ?? 0) > 1_500), 73],
  ] as const;
  for (const [what, figure, expected] of figures) expect(figure, what).toBe(expected);
});
