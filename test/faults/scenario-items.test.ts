import { expect, test } from "vitest";
import { syncedFixture } from "../support/fixture.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

/** The item sent instead of scenario 2, and the code and path of the reject expected for it. */
type Bad = readonly [library: string, source: string, code: string, path: string];

/** Scenario 2 as source text, with these fields overriding the usual ones. */
const two = (fields: string) =>
  `{"scenarioId":2,"parentId":null,"scenarioName":"changed","isResult":false${fields === "" ? "" : `,${fields}`}}`;
const id = (value: string) => `{"scenarioId":${value},"scenarioName":"changed","isResult":false}`;

/**
 * Stores each library with scenarios 1, 2 and 3. Then 1 is renamed, 2 is invalid, 3 is missing and 4 is new: the valid
 * items are stored, 2 is unchanged, 3 is not marked, the bookmark does not move, and a reject describes 2.
 */
async function expectRejects(neighbours: readonly Bad[]): Promise<void> {
  const { call, query, lines, service, asked } = await syncedFixture(
    [...neighbours.map(([name]) => name), "good"].map((name) => library("alice", name, { scenarios: [1, 2, 3] })),
  );
  const edit = (name: string, source: string | null) =>
    service.change("alice", name, {
      lastModified: NEWER,
      scenarios: [
        scenario(1, { scenarioName: "renamed" }),
        ...(source === null ? [] : [scenario(2, { source })]),
        scenario(4),
      ],
    });
  for (const [name, source] of neighbours) edit(name, source);
  edit("good", null);

  const ended = await call(["sync"]);

  const open = "SELECT library_name, payload, code, path FROM simcat.rejects WHERE resolved_at IS NULL";
  expect((await lines(open)).sort()).toEqual(neighbours.map((one) => one.join(" ")).sort());
  const count = neighbours.length;
  const scenarios = `SELECT scenario_id, scenario_name, CASE WHEN removed_at IS NULL THEN 'live' ELSE 'removed' END, count(*)
    FROM simcat.scenarios WHERE library_name <> 'good' GROUP BY 1, 2, 3 ORDER BY 1`;
  expect(await lines(scenarios)).toEqual([
    `1 renamed live ${count}`,
    `2 Scenario 2 live ${count}`,
    `3 Scenario 3 live ${count}`,
    `4 Scenario 4 live ${count}`,
  ]);
  const states =
    "SELECT bookmark, reread_reason, failures, count(*) FROM simcat.library_sync GROUP BY 1, 2, 3 ORDER BY 1 DESC";
  expect(await lines(states)).toEqual([`${NEWER} NULL 0 1`, `2023-09-11 at 2:56 PM rejects 0 ${count}`]);
  expect(ended.code).toBe(2);
  expect(await lastRun(query)).toMatchObject({
    status: "partial",
    libraries_read: neighbours.length + 1,
    scenarios_removed: 2,
    rejects: neighbours.length,
  });
  expect(libraryLogLines(ended).sort()).toEqual(neighbours.map(([name]) => `alice/${name} rejects`).sort());

  for (const [name] of neighbours) edit(name, two(""));
  asked();
  const healed = await call(["sync"]);

  expect(healed.code).toBe(0);
  expect(asked().filter((line) => !line.includes("/good/"))).toHaveLength(1 + 2 * neighbours.length);
  expect(await lines(open)).toEqual([]);
  expect(await lines(scenarios)).toEqual([
    `1 renamed live ${count}`,
    `2 changed live ${count}`,
    `3 Scenario 3 removed ${count}`,
    `4 Scenario 4 live ${count}`,
  ]);
}

test("a scenario that cannot be read exactly is a reject; nothing is coerced (faults 33, 35, 36)", async () => {
  await expectRejects([
    ["an id in another case", '{"ScenarioID":2,"scenarioName":"changed"}', "missing_field", "scenarioId"],
    ["the id true", id("true"), "wrong_type", "scenarioId"],
    ["one beyond bigint", id("9223372036854775808"), "out_of_range", "scenarioId"],
    ["parentId as text", '{"scenarioId":2,"parentId":"1"}', "wrong_type", "parentId"],
    ["scenarioName a number", '{"scenarioId":2,"scenarioName":5}', "wrong_type", "scenarioName"],
    ["isResult as text", '{"scenarioId":2,"isResult":"true"}', "wrong_type", "isResult"],
    ["lastModified a number", '{"scenarioId":2,"lastModified":1694444160}', "wrong_type", "lastModified"],
    ["description a list", '{"scenarioId":2,"description":["a"]}', "wrong_type", "description"],
    ["a list", "[2]", "not_an_object", ""],
    ["NUL in the description", two('"description":"a\\u0000b"'), "bad_text", "description"],
    ["NUL in a key", two('"ex\\u0000tra":1'), "bad_text", "?"],
    ["a low half in a list", two('"tags":["x","\\udd25"]'), "bad_text", "tags[1]"],
    ["a number of 140,000 digits", two('"x":1e140000'), "out_of_range", "x"],
    ["501 levels", two(`"x":${"[".repeat(500)}${"]".repeat(500)}`), "too_deep", ""],
  ]);
});

test("a library with only bad scenarios fails with one reject and keeps its copy (fault 36)", async () => {
  const { call, query, lines, service } = await syncedFixture([
    library("alice", "bad", { scenarios: [1, 2, 3] }),
    library("alice", "good", { scenarios: [1] }),
  ]);
  service.change("alice", "bad", {
    lastModified: NEWER,
    scenarios: ["a", "b", "c"].map((name) => scenario(0, { source: `{"scenarioId":"${name}"}` })),
  });
  service.change("alice", "good", { lastModified: NEWER });

  const ended = await call(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(["alice/bad all_rejected", "alice/bad rejects"]);
  expect(ended.stderr).toContain("not one of the 3 scenarios can be stored (the first: ");
  expect(await lastRun(query)).toMatchObject({ status: "partial", libraries_failed: 1, rejects: 1 });
  expect(await lines("SELECT library_name, kind, code, path, payload FROM simcat.rejects")).toEqual([
    'bad scenario wrong_type scenarioId {"scenarioId":"a"}',
  ]);
  expect(await lines("SELECT library_name, bookmark, reread_reason FROM simcat.library_sync ORDER BY 1")).toEqual([
    "bad 2023-09-11 at 2:56 PM failure",
    `good ${NEWER} NULL`,
  ]);
  expect(await lines("SELECT count(*) FROM simcat.scenarios WHERE removed_at IS NULL")).toEqual(["4"]);

  service.change("alice", "bad", { scenarios: [scenario(1)] });
  expect((await call(["sync"])).code).toBe(0);
  expect(await lines("SELECT id FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([]);
});
