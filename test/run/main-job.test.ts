import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";

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
  const { call, simcat, query, asked } = await fixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  const rows = () =>
    query(
      `SELECT 'l' AS t, xmin::text, ctid::text FROM simcat.libraries UNION ALL SELECT 's', xmin::text, ctid::text FROM simcat.scenarios
       UNION ALL SELECT 'y', xmin::text, ctid::text FROM simcat.library_sync ORDER BY 1, 2, 3`,
    );
  await call(["sync"]);
  const before = await rows();
  asked();

  const { code } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(asked()).toEqual(["GET /libs"]);
  expect(await rows()).toEqual(before);
  expect(before).toHaveLength(7);
});

test("one edited library costs two requests plus the listing, and history keeps the old version", async () => {
  const { simcat, query, service, asked } = await syncedFixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  service.change("alice", "Fire", {
    lastModified: NOW,
    scenarios: [scenario(1, { scenarioName: "renamed", lastModified: NOW }), scenario(3)],
  });

  const { code } = await simcat(["sync"]);

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

test("names are exact to the byte, in the service's URLs and in the database (fault 32)", async () => {
  const names = AWKWARD_NAMES;
  const { simcat, query, service } = await fixture(
    names.flatMap((name) => [library("o/w %n?r", name, { scenarios: [scenario(1, { scenarioName: name })] })]),
  );

  const { code } = await simcat(["sync"]);

  expect(code).toBe(0);
  const stored = await query<{ name: string; scenario: string }>(
    `SELECT library_name AS name, scenario_name AS scenario FROM simcat.libraries JOIN simcat.scenarios USING (owner, library_name)`,
  );
  expect(stored.map((row) => row.name).toSorted()).toEqual(names.toSorted());
  expect(stored.every((row) => row.name === row.scenario)).toBe(true);
  expect(service.requests.filter((request) => request.status !== 200)).toEqual([]);
});

test("an entry without uploadUser is a reject; the rest is stored, 'undefined' not requested (fault 27)", async () => {
  const { simcat, query, service } = await syncedFixture([library("alice", "Fire"), library("bob", "Water")]);
  service.always({ operation: "listing" }, { kind: "alterItem", index: 0, remove: ["uploadUser"] });

  const { code, stdout } = await simcat(["sync"]);

  expect(code).toBe(2);
  expect(stdout).toContain("SIMCAT_DEFAULT_OWNER");
  expect(service.requests.some(({ path }) => path.includes("undefined"))).toBe(false);
  expect(await query("SELECT owner, library_name, kind, code, path FROM simcat.rejects")).toEqual([
    { owner: null, library_name: null, kind: "listing", code: "missing_field", path: "uploadUser" },
  ]);
  expect(await query("SELECT removed_at FROM simcat.libraries")).toEqual([{ removed_at: null }, { removed_at: null }]);

  const withOwner = await simcat(["sync"], { SIMCAT_DEFAULT_OWNER: "alice" });
  expect(withOwner.code).toBe(0);
  expect(await query("SELECT resolved_at IS NOT NULL AS resolved FROM simcat.rejects")).toEqual([{ resolved: true }]);
});

test("a failing library leaves the others committed and recovers later", async () => {
  const { simcat, query, service, asked } = await fixture([
    library("alice", "Fire", { scenarios: [1] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  service.always({ owner: "bob", operation: "scenarios" }, { kind: "status", status: 500 });

  const failing = await simcat(["sync"]);

  expect(failing.code).toBe(2);
  expect(failing.stdout).toContain("bob/Water: server_error");
  expect(await query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
  expect(
    await query(
      "SELECT bookmark, reread_reason, failures, last_error LIKE 'server_error: %' AS told FROM simcat.library_sync WHERE owner = 'bob'",
    ),
  ).toEqual([{ bookmark: null, reread_reason: "failure", failures: 1, told: true }]);

  service.script([]);
  asked();
  const healed = await simcat(["sync"]);

  expect(healed.code).toBe(0);
  expect(asked()).toHaveLength(3);
  expect(
    await query("SELECT reread_reason, failures, last_error FROM simcat.library_sync WHERE owner = 'bob'"),
  ).toEqual([{ reread_reason: null, failures: 0, last_error: null }]);
});

test("an emptied listing is held, and returning libraries are unchanged (faults 43, 46)", async () => {
  const libraries = Array.from({ length: 50 }, (_, at) => library("alice", `Lib ${at}`, { scenarios: [1] }));
  const { call, simcat, query, service, asked } = await syncedFixture(libraries);
  service.once({ operation: "listing" }, { kind: "emptyList" });

  const held = await simcat(["sync"]);

  expect(held.code).toBe(3);
  expect(held.stdout).toContain("the listing is empty, but 50 libraries are live");
  expect(held.stdout).toContain("--allow-removals");
  expect(await query("SELECT count(*)::int AS removed FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([
    { removed: 0 },
  ]);
  asked();
  expect((await call(["sync"])).code).toBe(0);
  expect(asked()).toEqual(["GET /libs"]);

  service.once({ operation: "listing" }, { kind: "emptyList" });
  expect((await call(["sync", "--allow-removals"])).code).toBe(0);
  expect(await query("SELECT count(*)::int AS removed FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([
    { removed: 50 },
  ]);
  expect((await simcat(["sync"])).code).toBe(0);
  expect(await query("SELECT count(*)::int AS live FROM simcat.libraries WHERE removed_at IS NULL")).toEqual([
    { live: 50 },
  ]);
  expect(await query("SELECT count(*)::int AS versions FROM simcat.library_history")).toEqual([{ versions: 100 }]);
});

test("50 libraries, then 49: one is marked removed, its rows stay, its return restores it (faults 44, 46)", async () => {
  const libraries = Array.from({ length: 50 }, (_, at) => library("alice", `Lib ${at}`, { scenarios: [1] }));
  const { simcat, query, service } = await syncedFixture(libraries);
  service.once({ operation: "listing" }, { kind: "dropItems", from: 49 });

  const { code, stdout } = await simcat(["sync"]);

  expect(code).toBe(0);
  expect(stdout).toContain("1 removed");
  expect(
    await query(
      `SELECT library_name AS name, l.removed_at = l.changed_at AS dated, s.removed_at AS scenario
       FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) WHERE l.removed_at IS NOT NULL`,
    ),
  ).toEqual([{ name: "Lib 49", dated: true, scenario: null }]);

  expect((await simcat(["sync"])).stdout).toContain("1 owes a read: restored");
  expect(
    await query("SELECT removed_at, run_id::int AS run FROM simcat.libraries WHERE library_name = 'Lib 49'"),
  ).toEqual([{ removed_at: null, run: 3 }]);
});

test("a wrong key ends with 77 after one request and names what to check (fault 12)", async () => {
  const { simcat, query, asked } = await fixture([library("alice", "Fire")]);

  const { code, stdout, stderr } = await simcat(["sync"], { SIMCAT_API_KEY: "not-the-key" });

  expect(code).toBe(77);
  expect(asked()).toEqual(["GET /libs"]);
  expect(stdout).toContain("check SIMCAT_API_KEY");
  expect(stdout + stderr).not.toContain("not-the-key");
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([{ status: "unauthorized" }]);
});

test("an unreachable database ends with 69 without a request to the service (fault 77)", async () => {
  const { simcat, asked } = await fixture([library("alice", "Fire")]);

  const { code, stderr } = await simcat(["sync"], { DATABASE_URL: "postgres://nobody:s3cret@127.0.0.1:1/none" });

  expect(code).toBe(69);
  expect(stderr).toContain("connecting to the database failed");
  expect(stderr).toContain("check that the server runs");
  expect(stderr).not.toContain("s3cret");
  expect(asked()).toEqual([]);
});

test("--dry-run reports what would be done and why, and writes nothing", async () => {
  const { call, simcat, query, service } = await fixture([
    library("alice", "Fire", { scenarios: [1] }),
    library("bob", "Water"),
  ]);
  const first = await simcat(["sync", "--dry-run"]);
  expect(first.stdout).toContain("read    alice/Fire  (never read; insert)");
  await call(["sync"]);
  service.change("bob", "Water", { lastModified: NOW });
  const everything = () =>
    query(
      `SELECT (SELECT json_agg(t ORDER BY t::text) FROM (SELECT xmin::text, * FROM simcat.libraries) t) AS l,
        (SELECT json_agg(t ORDER BY t::text) FROM (SELECT xmin::text, * FROM simcat.library_sync) t) AS y,
        (SELECT json_agg(t ORDER BY t::text) FROM (SELECT xmin::text, * FROM simcat.sync_runs) t) AS r,
        (SELECT json_agg(t) FROM (SELECT xmin::text, xmax::text, * FROM simcat.leases) t) AS le`,
    );
  const before = await everything();

  const { code, stdout } = await simcat(["sync", "--dry-run", "--json"]);

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    listed: 2,
    read: [{ owner: "bob", library: "Water", reason: "listed date changed", write: "compare and update" }],
    skip: { unchanged: 1 },
    remove: [],
    requests: 2,
  });
  expect(await everything()).toEqual(before);
});
