import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

const NOW = "2030-01-02 at 3:04 PM";

/** The item sent instead of scenario 2, and the reject expected for it. */
interface Bad {
  readonly library: string;
  readonly source: string;
  readonly code: string;
  readonly path: string;
}

const bad = (name: string, source: string, code: string, path: string): Bad => ({ library: name, source, code, path });
/** Scenario 2 as source text, with these fields overriding the usual ones. */
const two = (fields: string) =>
  `{"scenarioId":2,"parentId":null,"scenarioName":"changed","isResult":false${fields === "" ? "" : `,${fields}`}}`;
const id = (value: string) => `{"scenarioId":${value},"scenarioName":"changed","isResult":false}`;

/**
 * Stores each library with scenarios 1, 2 and 3. Then 1 is renamed, 2 is invalid, 3 is missing and 4 is new: the valid
 * items are stored, 2 is unchanged, 3 is not marked, the bookmark does not move, and a reject describes 2.
 */
async function expectRejects(neighbours: readonly Bad[]): Promise<void> {
  const { call, query, service, asked } = await syncedFixture(
    [...neighbours.map((one) => one.library), "good"].map((name) => library("alice", name, { scenarios: [1, 2, 3] })),
  );
  const edit = (name: string, source: string | null) =>
    service.change("alice", name, {
      lastModified: NOW,
      scenarios: [
        scenario(1, { scenarioName: "renamed" }),
        ...(source === null ? [] : [scenario(2, { source })]),
        scenario(4),
      ],
    });
  for (const one of neighbours) edit(one.library, one.source);
  edit("good", null);

  const ended = await call(["sync"]);

  expect(
    await query(
      "SELECT library_name AS library, payload AS source, code, path FROM simcat.rejects WHERE resolved_at IS NULL ORDER BY 1",
    ),
  ).toEqual(neighbours.toSorted((a, b) => (a.library < b.library ? -1 : 1)));
  const states = () =>
    query(
      `SELECT scenario_id::int AS id, scenario_name AS name, removed_at IS NOT NULL AS removed, count(*)::int AS libraries
       FROM simcat.scenarios WHERE library_name <> 'good' GROUP BY 1, 2, 3 ORDER BY 1`,
    );
  const libraries = neighbours.length;
  expect(await states()).toEqual([
    { id: 1, name: "renamed", removed: false, libraries },
    { id: 2, name: "Scenario 2", removed: false, libraries },
    { id: 3, name: "Scenario 3", removed: false, libraries },
    { id: 4, name: "Scenario 4", removed: false, libraries },
  ]);
  expect(
    await query(
      "SELECT bookmark, reread_reason, failures, count(*)::int AS libraries FROM simcat.library_sync GROUP BY 1, 2, 3 ORDER BY 1 DESC",
    ),
  ).toEqual([
    { bookmark: NOW, reread_reason: null, failures: 0, libraries: 1 },
    { bookmark: "2023-09-11 at 2:56 PM", reread_reason: "rejects", failures: 0, libraries: neighbours.length },
  ]);
  expect(ended.code).toBe(2);
  expect(await lastRun(query)).toMatchObject({
    status: "partial",
    libraries_read: neighbours.length + 1,
    scenarios_removed: 2,
    rejects: neighbours.length,
  });
  expect(libraryLogLines(ended)).toEqual(
    neighbours
      .map((one) => ({ owner: "alice", library: one.library, code: "rejects" }))
      .sort((a, b) => a.library.localeCompare(b.library, "en")),
  );

  for (const one of neighbours) edit(one.library, two(""));
  asked();
  const healed = await call(["sync"]);

  expect(healed.code).toBe(0);
  expect(asked().filter((line) => !line.includes("/good/"))).toHaveLength(1 + 2 * neighbours.length);
  expect(await query("SELECT count(*)::int AS open FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([
    { open: 0 },
  ]);
  expect(await states()).toEqual([
    { id: 1, name: "renamed", removed: false, libraries },
    { id: 2, name: "changed", removed: false, libraries },
    { id: 3, name: "Scenario 3", removed: true, libraries },
    { id: 4, name: "Scenario 4", removed: false, libraries },
  ]);
}

test("a scenario that cannot be read exactly is a reject; nothing is coerced (faults 33, 36)", async () => {
  const wrong = (name: string, fields: string, path: string) =>
    bad(name, `{"scenarioId":2,${fields}}`, "wrong_type", path);
  const text = (name: string, fields: string, path: string) => bad(name, two(fields), "bad_text", path);
  await expectRejects([
    bad("an id in another case", '{"ScenarioID":2,"scenarioName":"changed"}', "missing_field", "scenarioId"),
    bad("the id true", id("true"), "wrong_type", "scenarioId"),
    bad("one beyond bigint", id("9223372036854775808"), "out_of_range", "scenarioId"),
    wrong("parentId as text", '"parentId":"1"', "parentId"),
    wrong("scenarioName a number", '"scenarioName":5', "scenarioName"),
    wrong("isResult as text", '"isResult":"true"', "isResult"),
    wrong("lastModified a number", '"lastModified":1694444160', "lastModified"),
    wrong("description a list", '"description":["a"]', "description"),
    bad("a list", "[2]", "not_an_object", ""),
    text("NUL in the description", '"description":"a\\u0000b"', "description"),
    text("NUL in a key", '"ex\\u0000tra":1', "?"),
    text("a low half in a list", '"tags":["x","\\udd25"]', "tags[1]"),
    bad("a number of 140,000 digits", two('"x":1e140000'), "out_of_range", "x"),
    bad("501 levels", two(`"x":${"[".repeat(500)}${"]".repeat(500)}`), "too_deep", ""),
  ]);
});

test("large, negative or unusually spelled ids and parents are stored exactly (fault 35)", async () => {
  const ids = [
    ["-9223372036854775807", "-9223372036854775807"],
    ["-1", "-1"],
    ["-0", "0"],
    ["7.0", "7"],
    ["1e2", "100"],
    ["2147483647", "2147483647"],
    ["2147483648", "2147483648"],
    ["9007199254740991", "9007199254740991"],
    ["90071992547409930e-1", "9007199254740993"],
    ["9007199254740995.000", "9007199254740995"],
    ["9223372036854775807", "9223372036854775807"],
  ] as const;
  const { call, query } = await fixture([
    library("alice", "Fire", {
      scenarios: ids.map(([source]) => scenario(0, { source: `{"scenarioId":${source},"parentId":${source}}` })),
    }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  expect(
    await query("SELECT scenario_id::text AS id, parent_id::text AS parent FROM simcat.scenarios ORDER BY scenario_id"),
  ).toEqual(ids.map(([, stored]) => ({ id: stored, parent: stored })));
});

test("a library with only bad scenarios fails with one reject and keeps its copy (fault 36)", async () => {
  const { call, query, service } = await syncedFixture([
    library("alice", "bad", { scenarios: [1, 2, 3] }),
    library("alice", "good", { scenarios: [1] }),
  ]);
  service.change("alice", "bad", {
    lastModified: NOW,
    scenarios: ["a", "b", "c"].map((name) => scenario(0, { source: `{"scenarioId":"${name}"}` })),
  });
  service.change("alice", "good", { lastModified: NOW });

  const ended = await call(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual([
    { owner: "alice", library: "bad", code: "all_rejected" },
    { owner: "alice", library: "bad", code: "rejects" },
  ]);
  expect(ended.stderr).toContain("not one of the 3 scenarios can be stored (the first: ");
  expect(await lastRun(query)).toMatchObject({ status: "partial", libraries_failed: 1, rejects: 1 });
  expect(await query("SELECT library_name AS library, kind, code, path, payload FROM simcat.rejects")).toEqual([
    { library: "bad", kind: "scenario", code: "wrong_type", path: "scenarioId", payload: '{"scenarioId":"a"}' },
  ]);
  expect(
    await query("SELECT library_name AS library, bookmark, reread_reason FROM simcat.library_sync ORDER BY 1"),
  ).toEqual([
    { library: "bad", bookmark: "2023-09-11 at 2:56 PM", reread_reason: "failure" },
    { library: "good", bookmark: NOW, reread_reason: null },
  ]);
  expect(await query("SELECT count(*)::int AS live FROM simcat.scenarios WHERE removed_at IS NULL")).toEqual([
    { live: 4 },
  ]);

  service.change("alice", "bad", { scenarios: [scenario(1)] });
  expect((await call(["sync"])).code).toBe(0);
  expect(await query("SELECT count(*)::int AS open FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([
    { open: 0 },
  ]);
});
