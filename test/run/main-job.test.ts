import { expect, test } from "vitest";
import { brokenHistories, serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture, requestsFor, syncedFixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library, NEWER, scenario } from "../support/organization.ts";
import { ROWS_OF_RUNS, rowVersions } from "../support/row-versions.ts";

test("the first sync stores everything that the service has", async () => {
  const { simcat, lines, service } = await fixture([
    library("alice", "Fire", { scenarios: [1, scenario(2, { parentId: 1, description: "hot" })] }),
    library("bob", "Water", { fileSize: "216 KB  (221,184 B)", description: "wet" }),
  ]);

  const { code, stdout } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(stdout).toContain("2 listed, 2 read, 0 skipped, 2 changed, 0 removed, 0 failed");
  const libraries = `SELECT owner, library_name, library_owner, last_modified, last_modified_at AT TIME ZONE 'UTC' = '2023-09-11 14:56',
      file_size, file_size_bytes, package_name, package_version, description, removed_at
    FROM simcat.libraries ORDER BY owner`;
  expect(await lines(libraries)).toEqual([
    "alice Fire alice 2023-09-11 at 2:56 PM true 240 KB 245760 landscape 4.3.6 NULL NULL",
    "bob Water bob 2023-09-11 at 2:56 PM true 216 KB  (221,184 B) 221184 landscape 4.3.6 wet NULL",
  ]);
  const scenarios = `SELECT owner, library_name, scenario_id, parent_id, scenario_name, is_result, description, raw->>'scenarioId'
    FROM simcat.scenarios ORDER BY scenario_id`;
  expect(await lines(scenarios)).toEqual([
    "alice Fire 1 NULL Scenario 1 false NULL 1",
    "alice Fire 2 1 Result 2 true hot 2",
  ]);
  expect(service.violations).toEqual([]);
});

test("a second sync requests only the listing, a third one also what was edited, and history keeps it (fault 57)", async () => {
  const { call, query, lines, service, asked } = await syncedFixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  const before = await rowVersions(query, ROWS_OF_RUNS);
  expect((await call(["sync"])).code).toBe(0);
  expect(asked()).toEqual(["GET /libs"]);
  expect(await rowVersions(query, ROWS_OF_RUNS)).toEqual(before);
  expect(before).toHaveLength(9);

  service.change("alice", "Fire", {
    lastModified: NEWER,
    scenarios: [scenario(1, { scenarioName: "renamed", lastModified: NEWER }), scenario(3)],
  });

  expect((await call(["sync"])).code).toBe(0);
  expect(asked().toSorted()).toEqual(requestsFor("alice/Fire"));
  const scenarios = `SELECT scenario_id, scenario_name, CASE WHEN removed_at IS NULL THEN 'live' ELSE 'removed' END
    FROM simcat.scenarios WHERE owner = 'alice' ORDER BY 1`;
  expect(await lines(scenarios)).toEqual(["1 renamed live", "2 Scenario 2 removed", "3 Scenario 3 live"]);
  const versions = `SELECT scenario_id, scenario_name, 'of run', run_id, 'until run', superseded_by, valid_from < valid_to
    FROM simcat.scenario_history ORDER BY 1`;
  expect(await lines(versions)).toEqual([
    "1 Scenario 1 of run 1 until run 3 true",
    "2 Scenario 2 of run 1 until run 3 true",
  ]);
  expect(await lines("SELECT last_modified FROM simcat.library_history")).toEqual(["2023-09-11 at 2:56 PM"]);
  expect(await brokenHistories(query)).toEqual([]);
});

test("names are exact to the byte, in the service's URLs and in the database (faults 31, 32)", async () => {
  const names = [...AWKWARD_NAMES, "ﬁre", "fire", "ß", "ss", "İ", "i", "x", " x", "x "];
  const { call, query, service } = await fixture(
    names.map((name) => library("o/w %n?r", name, { scenarios: [scenario(1, { scenarioName: name })] })),
  );

  expect((await call(["sync"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(service.requests.filter((request) => request.status !== 200)).toEqual([]);
});

test("--dry-run reports what would be done and why, and writes nothing", async () => {
  const { call, database, service } = await fixture([
    library("alice", "Fire", { scenarios: [1] }),
    library("bob", "Water"),
  ]);
  const first = await call(["sync", "--dry-run"]);
  expect(first.stdout).toContain("read    alice/Fire  (never read; insert)");
  await call(["sync"]);
  service.change("bob", "Water", { lastModified: NEWER });
  const before = await rowVersions(database.query);

  const { code, stdout } = await call(["sync", "--dry-run", "--json"]);

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    listed: 2,
    read: [{ owner: "bob", library: "Water", reason: "listed date changed", write: "compare and update" }],
    skip: { unchanged: 1 },
    remove: [],
    requests: 2,
  });
  expect(await rowVersions(database.query)).toEqual(before);
});
