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

test("every library is its own, and its owners are users of very different industry", () => {
  const sizes = new Map<string, number>();
  for (const { owner } of libraries) sizes.set(owner, (sizes.get(owner) ?? 0) + 1);
  const largest = Math.max(...sizes.values());
  expect(large.size).toBe(2_000);
  expect(sizes.size).toBeGreaterThan(30);
  expect(largest / 2_000).toBeGreaterThan(0.2);
  expect([...sizes.keys()].filter((owner) => !/^[a-z]+[.-][a-z]+\d*$/.test(owner))).toEqual([]);
});

test("dates are minute-grained, within three years, three in ten of them recent", () => {
  const dates = libraries.map(({ lastModified }) => lastModified);
  expect(dates.filter((date) => !MINUTE_TEXT.test(date ?? ""))).toEqual([]);
  const ages = dates.map((date) => (NOW.getTime() - parse(date)) / 86_400_000);
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...ages)).toBeLessThan(3 * 365);
  expect(ages.filter((age) => age <= 30).length / 2_000).toBeGreaterThan(0.25);
});

test("a library's date is that of its latest scenario", () => {
  const withScenarios = libraries.filter(({ scenarios }) => scenarios.length > 0);
  const disagreeing = withScenarios.filter(
    ({ lastModified, scenarios }) =>
      Math.max(...scenarios.map((each) => parse(each.lastModified))) !== parse(lastModified),
  );
  expect(disagreeing).toEqual([]);
});

test("ids ascend with gaps, and a result points at a parent of its library", () => {
  const wrong: string[] = [];
  let gaps = 0;
  for (const { name, scenarios } of libraries) {
    const parents = new Set(scenarios.filter((each) => !each.isResult).map((each) => each.scenarioId));
    let last = 0;
    for (const { scenarioId, isResult, parentId } of scenarios) {
      const isPlaced = isResult ? parents.has(parentId ?? 0) : parentId === null;
      if (scenarioId <= last || !isPlaced) wrong.push(`${name} ${scenarioId}`);
      gaps += scenarioId > last + 1 ? 1 : 0;
      last = scenarioId;
    }
  }
  expect(wrong).toEqual([]);
  expect(gaps).toBeGreaterThan(1_000);
});

test("results are named after their parent except a few, and some parents have no result", () => {
  const all = libraries.flatMap(({ scenarios }) => scenarios);
  const results = all.filter((each) => each.isResult);
  const named = results.filter((each) =>
    /\(\[\d+\] @ \d\d-[A-Z][a-z]{2}-20\d\d \d+:\d\d [AP]M\)$/.test(each.scenarioName ?? ""),
  );
  expect(named.length / results.length).toBeGreaterThan(0.9);
  expect(named.length).toBeLessThan(results.length);
  const neverRun = libraries.flatMap(({ scenarios }) => {
    const run = new Set(scenarios.map((each) => each.parentId));
    return scenarios.filter((each) => !each.isResult && !run.has(each.scenarioId));
  });
  expect(neverRun.length).toBeGreaterThan(100);
});

test("file sizes have the three known formats, packages several versions, descriptions any length", () => {
  const forms = [/^\d+ KB$/, /^\d+ MB$/, /^\d+ KB {2}\(\d{1,3}(?:,\d{3})* B\)$/];
  const counts = forms.map((form) => libraries.filter(({ fileSize }) => form.test(fileSize ?? "")).length);
  expect(Math.min(...counts)).toBeGreaterThan(100);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2_000);
  expect(new Set(libraries.map((each) => `${each.packageName} ${each.packageVersion}`)).size).toBeGreaterThan(8);
  expect(libraries.filter(({ description }) => description === null).length).toBeGreaterThan(400);
  expect(libraries.some(({ description }) => (description?.length ?? 0) > 1_500)).toBe(true);
});

test("the mean number of scenarios is kept", () => {
  const count = libraries.reduce((sum, { scenarios }) => sum + scenarios.length, 0);
  expect(count / 2_000).toBeGreaterThan(17);
  expect(count / 2_000).toBeLessThan(23);
});
