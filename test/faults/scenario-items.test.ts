import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { syncedFixture } from "../support/fixture.ts";
import type { MockScenario } from "../support/mock/library.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

/** Libraries, the item that each sends instead of scenario 2, and the code and path of the reject expected for it. */
const BAD = [
  ["an id in another case", '{"ScenarioID":2,"scenarioName":"changed"}', "missing_field", "scenarioId"],
  ["one beyond bigint", '{"scenarioId":9223372036854775808,"isResult":false}', "out_of_range", "scenarioId"],
  ["scenarioName a number", '{"scenarioId":2,"scenarioName":5}', "wrong_type", "scenarioName"],
  ["description a list", '{"scenarioId":2,"description":["a"]}', "wrong_type", "description"],
  ["a list", "[2]", "not_an_object", ""],
  ["NUL in the description", '{"scenarioId":2,"description":"a\\u0000b"}', "bad_text", "description"],
  ["501 levels", `{"scenarioId":2,"x":${"[".repeat(500)}${"]".repeat(500)}}`, "too_deep", ""],
] as const;

// Scenario 1 is renamed, 2 is invalid, 3 is missing and 4 is new.
test("a scenario that cannot be read exactly is a reject; nothing is coerced or marked (faults 33, 35, 36)", async () => {
  const { call, query, lines, service, asked } = await syncedFixture(
    [...BAD.map(([name]) => name), "good"].map((name) => library("alice", name, { scenarios: [1, 2, 3] })),
  );
  const edit = (name: string, ...second: readonly MockScenario[]) =>
    service.change("alice", name, {
      lastModified: NEWER,
      scenarios: [scenario(1, { scenarioName: "renamed" }), ...second, scenario(4)],
    });
  for (const [name, source] of BAD) edit(name, scenario(2, { source }));
  edit("good");

  const ended = await call(["sync"]);

  const open = "SELECT library_name, payload, code, path FROM simcat.rejects WHERE resolved_at IS NULL";
  expect((await lines(open)).sort()).toEqual(BAD.map((one) => one.join(" ")).sort());
  const count = BAD.length;
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
    libraries_read: BAD.length + 1,
    scenarios_removed: 2,
    rejects: BAD.length,
  });
  expect(libraryLogLines(ended).sort()).toEqual(BAD.map(([name]) => `alice/${name} rejects`).sort());

  for (const [name] of BAD) edit(name, scenario(2, { scenarioName: "changed" }));
  asked();
  const healed = await call(["sync"]);

  expect(healed.code).toBe(0);
  expect(asked().filter((line) => !line.includes("/good/"))).toHaveLength(1 + 2 * BAD.length);
  expect(await lines(open)).toEqual([]);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
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
