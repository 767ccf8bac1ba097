import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines, logLines } from "./run-results.ts";

const NOW = "2030-01-02 at 3:04 PM";
const OLD = "2023-09-11 at 2:56 PM";

test("metadata with an invalid field is a reject; the library's scenarios are stored (faults 33, 36)", async () => {
  const bad = [
    ["description a number", '{"description":5}', "wrong_type", "description"],
    ["fileSize an object", '{"fileSize":{"bytes":1}}', "wrong_type", "fileSize"],
    ["libraryName a number", '{"libraryName":1}', "wrong_type", "libraryName"],
    ["libraryOwner true", '{"libraryOwner":true}', "wrong_type", "libraryOwner"],
    ["NUL in a key", '{"fileSize":"1 MB","\\u0000":1}', "bad_text", "?"],
    ["NUL in an unknown field", '{"fileSize":"1 MB","x":{"y":["\\u0000"]}}', "bad_text", "x.y[0]"],
    ["half a pair in the package", '{"packageName":"\\ud800"}', "bad_text", "packageName"],
    ["a wide number", '{"fileSize":"1 MB","x":1e140000}', "out_of_range", "x"],
    ["501 levels", `{"fileSize":"1 MB","x":${"[".repeat(500)}${"]".repeat(500)}}`, "too_deep", ""],
  ] as const;
  const { call, query, service } = await syncedFixture(
    bad.map(([name]) => library("alice", name, { scenarios: [1, 2] })),
  );
  for (const [name, metadata] of bad) {
    service.change("alice", name, {
      lastModified: NOW,
      scenarios: [scenario(1), scenario(3)],
      source: { metadata },
    });
  }

  const ended = await call(["sync"]);

  expect(ended.code).toBe(2);
  expect(
    await query(
      'SELECT library_name AS name, payload, code, path, kind FROM simcat.rejects WHERE resolved_at IS NULL ORDER BY library_name COLLATE "C"',
    ),
  ).toEqual(
    bad
      .map(([name, payload, code, path]) => ({ name, payload, code, path, kind: "metadata" }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
  expect(libraryLogLines(ended)).toHaveLength(bad.length);
  expect(
    await query(
      `SELECT DISTINCT l.file_size, l.package_name, l.package_version, l.library_owner, l.metadata->>'fileSize' AS raw,
         l.last_modified, y.bookmark, y.reread_reason FROM simcat.libraries l JOIN simcat.library_sync y USING (owner, library_name)`,
    ),
  ).toEqual([
    {
      file_size: "240 KB",
      package_name: "landscape",
      package_version: "4.3.6",
      library_owner: "alice",
      raw: "240 KB",
      last_modified: NOW,
      bookmark: OLD,
      reread_reason: "rejects",
    },
  ]);
  expect(
    await query(
      "SELECT scenario_id::int AS id, removed_at, count(*)::int AS rows FROM simcat.scenarios GROUP BY 1, 2 ORDER BY 1",
    ),
  ).toEqual([
    { id: 1, removed_at: null, rows: bad.length },
    { id: 2, removed_at: null, rows: bad.length },
    { id: 3, removed_at: null, rows: bad.length },
  ]);

  for (const [name] of bad) service.change("alice", name, { source: {} });
  expect((await call(["sync"])).code).toBe(0);
  expect(await query("SELECT count(*)::int AS open FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([
    { open: 0 },
  ]);
  expect(await query("SELECT count(*)::int AS removed FROM simcat.scenarios WHERE removed_at IS NOT NULL")).toEqual([
    { removed: bad.length },
  ]);
});

test("a new library with bad metadata is stored without it and remains due for a read (fault 36)", async () => {
  const { call, query } = await fixture([
    library("alice", "Fire", { scenarios: [1], metadataFields: { packageVersion: 4 } }),
  ]);

  expect((await call(["sync"])).code).toBe(2);
  expect(await query("SELECT package_name, metadata, last_modified FROM simcat.libraries")).toEqual([
    { package_name: null, metadata: null, last_modified: OLD },
  ]);
  expect(await query("SELECT scenario_id::int AS id FROM simcat.scenarios")).toEqual([{ id: 1 }]);
  expect(await query("SELECT bookmark, reread_reason FROM simcat.library_sync")).toEqual([
    { bookmark: null, reread_reason: "rejects" },
  ]);
});

test("a library is keyed by its listing entry, whatever its metadata names (fault 48)", async () => {
  const { call, query } = await fixture([
    library("alice", "Fire", {
      libraryOwner: "Boreal Futures Lab",
      metadataFields: { libraryName: "Renamed", uploadUser: "bob" },
      scenarios: [1],
    }),
    library("bob", "Renamed", { libraryOwner: "alice" }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  expect(
    await query(
      "SELECT owner, library_name AS name, library_owner, metadata->>'libraryName' AS told FROM simcat.libraries ORDER BY 1",
    ),
  ).toEqual([
    { owner: "alice", name: "Fire", library_owner: "Boreal Futures Lab", told: "Renamed" },
    { owner: "bob", name: "Renamed", library_owner: "alice", told: "Renamed" },
  ]);
  expect(await query("SELECT owner, library_name AS name FROM simcat.scenarios")).toEqual([
    { owner: "alice", name: "Fire" },
  ]);
});

test("null and absent fields are stored as SQL NULL, empty ones as '' (faults 37, 40)", async () => {
  const nothing = { lastModified: null, fileSize: null, packageName: null, packageVersion: null, description: null };
  const empty = { fileSize: "", packageName: "", packageVersion: "", description: "" };
  const { call, query } = await fixture([
    library("alice", "null", {
      ...nothing,
      metadataFields: { libraryName: null, libraryOwner: null },
      scenarios: [scenario(1, { scenarioName: null, lastModified: null, fields: { isResult: null } })],
    }),
    library("alice", "absent", {
      source: {
        entry: '{"libraryName":"absent","uploadUser":"alice"}',
        metadata: '{"libraryName":"absent"}',
        scenarios: '[{"scenarioId":1}]',
      },
    }),
    library("alice", "empty", {
      ...empty,
      libraryOwner: "",
      lastModified: "",
      scenarios: [scenario(1, { scenarioName: "", lastModified: "", description: "" })],
    }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  const rows = await query<{ name: string }>(
    `SELECT l.library_name AS name, library_owner, l.last_modified, l.last_modified_at, file_size, file_size_bytes, package_name, package_version,
       l.description, parent_id, scenario_name, is_result, s.last_modified AS scenario_modified, s.last_modified_at AS scenario_modified_at,
       s.description AS scenario_description
     FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) ORDER BY 1`,
  );
  const nulls = Object.fromEntries(Object.keys(rows[0] ?? {}).map((column) => [column, null]));
  expect(Object.keys(nulls)).toHaveLength(15);
  expect(rows).toEqual([
    { ...nulls, name: "absent" },
    {
      ...nulls,
      name: "empty",
      library_owner: "",
      last_modified: "",
      file_size: "",
      package_name: "",
      package_version: "",
      description: "",
      scenario_name: "",
      is_result: false,
      scenario_modified: "",
      scenario_description: "",
    },
    { ...nulls, name: "null" },
  ]);
});

test("missing or odd parents and contradictory results are stored as sent and flagged (faults 37, 38)", async () => {
  const { call, query } = await fixture([
    library("alice", "Fire", {
      scenarios: [
        scenario(1),
        scenario(2, { parentId: 0, isResult: false }),
        scenario(3, { parentId: 99 }),
        scenario(4, { parentId: 4 }),
        scenario(5, { parentId: 6 }),
        scenario(6, { parentId: 5 }),
        scenario(7, { parentId: null, isResult: true }),
        scenario(8, { parentId: 1, isResult: false }),
        scenario(9, { parentId: -1 }),
        scenario(10, { fields: { parentId: undefined } }),
        scenario(11, { parentId: 0, isResult: true }),
      ],
    }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  const stored = await query<{ line: string }>(
    "SELECT concat_ws(' ', scenario_id, coalesce(parent_id::text, 'none'), is_result) AS line FROM simcat.scenarios ORDER BY scenario_id",
  );
  expect(stored.map(({ line }) => line)).toEqual([
    "1 none f",
    "2 0 f",
    "3 99 t",
    "4 4 t",
    "5 6 t",
    "6 5 t",
    "7 none t",
    "8 1 f",
    "9 -1 t",
    "10 none f",
    "11 0 t",
  ]);
  expect(
    await query("SELECT scenario_id::int AS id, problem, field, value FROM simcat_report.data_quality ORDER BY 1"),
  ).toEqual([
    { id: 3, problem: "parent_missing", field: "parent_id", value: "99" },
    { id: 4, problem: "own_parent", field: "parent_id", value: "4" },
    { id: 5, problem: "parent_cycle", field: "parent_id", value: "6" },
    { id: 6, problem: "parent_cycle", field: "parent_id", value: "5" },
    { id: 7, problem: "result_without_parent", field: "parent_id", value: null },
    { id: 8, problem: "parent_but_no_result", field: "is_result", value: "false" },
    { id: 9, problem: "parent_missing", field: "parent_id", value: "-1" },
    { id: 11, problem: "result_without_parent", field: "parent_id", value: null },
  ]);
  expect(await lastRun(query)).toMatchObject({ status: "ok" });
});

test("unknown fields are kept exactly everywhere, and the run is ok (faults 35, 39)", async () => {
  const extra = '"x":12345678901234567890,"y":1.10,"z":{"deep":[null,"a\\u00e9",-0.0,1e3]},"":0';
  const { call, query } = await fixture([
    library("alice", "Fire", {
      source: {
        entry: `{"libraryName":"Fire","uploadUser":"alice","lastModified":"${OLD}",${extra}}`,
        metadata: `{"libraryName":"Fire",${extra}}`,
        scenarios: `[{"scenarioId":1,${extra}}]`,
      },
    }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  const kept = {
    x: "12345678901234567890",
    y: "1.10",
    z: '{"deep": [null, "aé", 0.0, 1000]}',
    nameless: "0",
  };
  const fields = (column: string) =>
    `${column}->>'x' AS x, ${column}->>'y' AS y, ${column}->>'z' AS z, ${column}->>'' AS nameless`;
  expect(await query(`SELECT ${fields("listed")} FROM simcat.libraries`)).toEqual([kept]);
  expect(await query(`SELECT ${fields("metadata")} FROM simcat.libraries`)).toEqual([kept]);
  expect(await query(`SELECT ${fields("raw")} FROM simcat.scenarios`)).toEqual([kept]);
  expect(await lastRun(query)).toMatchObject({ status: "ok" });
});

test("a change only in an unknown field updates in place and makes no version (fault 39)", async () => {
  const { call, query, service } = await syncedFixture([
    library("alice", "Fire", { scenarios: [scenario(1, { fields: { tags: ["a"] } })] }),
  ]);
  service.change("alice", "Fire", {
    metadataFields: { stars: 5 },
    scenarios: [scenario(1, { fields: { tags: ["b"] } })],
  });

  expect((await call(["backfill"])).code).toBe(0);
  expect(
    await query(
      `SELECT metadata->>'stars' AS stars, raw->'tags'->>0 AS tag, l.run_id::int AS library_run, s.run_id::int AS scenario_run,
         l.changed_at = l.first_seen_at AS library_stays, s.changed_at = s.first_seen_at AS scenario_stays
       FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name)`,
    ),
  ).toEqual([{ stars: "5", tag: "b", library_run: 1, scenario_run: 1, library_stays: true, scenario_stays: true }]);
  expect(
    await query(
      "SELECT (SELECT count(*) FROM simcat.scenario_history)::int AS s, (SELECT count(*) FROM simcat.library_history)::int AS l",
    ),
  ).toEqual([{ s: 0, l: 0 }]);
});

test("file sizes keep their text; bytes are NULL, never 0, when they are uncertain (fault 60)", async () => {
  const sizes: [string | null, number | null][] = [
    ["240 KB", 245_760],
    ["216 KB  (221,184 B)", 221_184],
    ["0 KB", 0],
    ["2 TB", 2_199_023_255_552],
    ["N/A", null],
    ["", null],
    ["1 MB (5 B)", null],
    ["99999999 PB", null],
    [null, null],
  ];
  const { call, query } = await fixture(
    sizes.map(([fileSize], at) => library("alice", String(at).padStart(2, "0"), { fileSize })),
  );

  const ended = await call(["sync"]);

  expect(ended.code).toBe(0);
  expect(
    await query(
      "SELECT file_size, file_size_bytes::float8 AS bytes, metadata->>'fileSize' AS raw FROM simcat.libraries ORDER BY library_name",
    ),
  ).toEqual(sizes.map(([file_size, bytes]) => ({ file_size, bytes, raw: file_size })));
  expect(logLines(ended).filter(({ code }) => code === "sizes_unparsed")).toMatchObject([{ level: "warn" }]);
});
