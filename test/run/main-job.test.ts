import { expect, test } from "vitest";
import { everything } from "../faults/run-results.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";
import { fingerprintRows } from "../verify/simcat.ts";

const NOW = "2030-01-02 at 3:04 PM";

test("the first sync stores everything that the service has", async () => {
  const { simcat, query, service } = await fixture([
    library("alice", "Fire", { scenarios: [1, scenario(2, { parentId: 1, description: "hot" })] }),
    library("bob", "Water", { fileSize: "216 KB  (221,184 B)", description: "wet" }),
  ]);

  const { code, stdout } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(stdout).toContain("2 listed, 2 read, 0 skipped, 2 changed, 0 removed, 0 failed");
  expect(
    await query(
      `SELECT owner, library_name, library_owner, last_modified, last_modified_at, file_size, file_size_bytes,
         package_name, package_version, description, removed_at FROM simcat.libraries ORDER BY owner`,
    ),
  ).toEqual([
    {
      owner: "alice",
      library_name: "Fire",
      library_owner: "alice",
      last_modified: "2023-09-11 at 2:56 PM",
      last_modified_at: new Date("2023-09-11T14:56:00Z"),
      file_size: "240 KB",
      file_size_bytes: "245760",
      package_name: "landscape",
      package_version: "4.3.6",
      description: null,
      removed_at: null,
    },
    {
      owner: "bob",
      library_name: "Water",
      library_owner: "bob",
      last_modified: "2023-09-11 at 2:56 PM",
      last_modified_at: new Date("2023-09-11T14:56:00Z"),
      file_size: "216 KB  (221,184 B)",
      file_size_bytes: "221184",
      package_name: "landscape",
      package_version: "4.3.6",
      description: "wet",
      removed_at: null,
    },
  ]);
  expect(
    await query(
      `SELECT owner, library_name, scenario_id, parent_id, scenario_name, is_result, description, raw->>'scenarioId' AS raw_id
       FROM simcat.scenarios ORDER BY scenario_id`,
    ),
  ).toEqual([
    {
      owner: "alice",
      library_name: "Fire",
      scenario_id: "1",
      parent_id: null,
      scenario_name: "Scenario 1",
      is_result: false,
      description: null,
      raw_id: "1",
    },
    {
      owner: "alice",
      library_name: "Fire",
      scenario_id: "2",
      parent_id: "1",
      scenario_name: "Result 2",
      is_result: true,
      description: "hot",
      raw_id: "2",
    },
  ]);
  expect(service.violations).toEqual([]);
});

test("a second sync of unchanged libraries requests only the listing and rewrites no row (fault 57)", async () => {
  const { call, query, asked } = await fixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  await call(["sync"]);
  const before = await everything(query);
  asked();

  expect((await call(["sync"])).code).toBe(0);
  expect(asked()).toEqual(["GET /libs"]);
  expect(await everything(query)).toEqual(before);
  expect(before).toHaveLength(7);
});

test("one edited library costs two requests plus the listing, and history keeps the old version", async () => {
  const { call, query, service, asked } = await syncedFixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  service.change("alice", "Fire", {
    lastModified: NOW,
    scenarios: [scenario(1, { scenarioName: "renamed", lastModified: NOW }), scenario(3)],
  });

  const { code } = await call(["sync"]);

  expect(code).toBe(0);
  expect(asked().toSorted()).toEqual([
    "GET /libs",
    "GET /libs/user/alice/Fire/metadata",
    "GET /libs/user/alice/Fire/scenarios",
  ]);
  expect(
    await query(
      `SELECT scenario_id::int AS id, scenario_name AS name, removed_at IS NOT NULL AS removed FROM simcat.scenarios
       WHERE owner = 'alice' ORDER BY 1`,
    ),
  ).toEqual([
    { id: 1, name: "renamed", removed: false },
    { id: 2, name: "Scenario 2", removed: true },
    { id: 3, name: "Scenario 3", removed: false },
  ]);
  expect(
    await query(
      `SELECT h.scenario_id::int AS id, h.scenario_name AS name, h.run_id::int AS run, h.superseded_by::int AS by,
         h.valid_to = s.changed_at AS meets, h.valid_from < h.valid_to AS filled
       FROM simcat.scenario_history h JOIN simcat.scenarios s USING (owner, library_name, scenario_id) ORDER BY 1`,
    ),
  ).toEqual([
    { id: 1, name: "Scenario 1", run: 1, by: 2, meets: true, filled: true },
    { id: 2, name: "Scenario 2", run: 1, by: 2, meets: true, filled: true },
  ]);
  expect(await query("SELECT last_modified FROM simcat.library_history")).toEqual([
    { last_modified: "2023-09-11 at 2:56 PM" },
  ]);
});

test("names are exact to the byte, in the service's URLs and in the database (faults 31, 32)", async () => {
  const names = [...AWKWARD_NAMES, "ﬁre", "fire", "ß", "ss", "İ", "i", "x", " x", "x "];
  const { call, query, service } = await fixture(
    names.flatMap((name) => [library("o/w %n?r", name, { scenarios: [scenario(1, { scenarioName: name })] })]),
  );

  expect((await call(["sync"])).code).toBe(0);
  const stored = await query<{ name: string; scenario: string }>(
    `SELECT library_name AS name, scenario_name AS scenario FROM simcat.libraries JOIN simcat.scenarios USING (owner, library_name)`,
  );
  expect(stored.map((row) => row.name).toSorted()).toEqual(names.toSorted());
  expect(stored.every((row) => row.name === row.scenario)).toBe(true);
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
  service.change("bob", "Water", { lastModified: NOW });
  const before = await fingerprintRows(database);

  const { code, stdout } = await call(["sync", "--dry-run", "--json"]);

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    listed: 2,
    read: [{ owner: "bob", library: "Water", reason: "listed date changed", write: "compare and update" }],
    skip: { unchanged: 1 },
    remove: [],
    requests: 2,
  });
  expect(await fingerprintRows(database)).toEqual(before);
});
