import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines, logLines } from "./run-results.ts";

const NOW = "2030-01-02 at 3:04 PM";
const OLD = "2023-09-11 at 2:56 PM";

test("metadata with an invalid field is a reject; the library's scenarios are stored (faults 33, 36)", async () => {
  const bad = [
    ["description a number", '{"description":5}', "wrong_type", "description"],
    ["description a list", '{"description":["a"]}', "wrong_type", "description"],
    ["fileSize a number", '{"fileSize":245760}', "wrong_type", "fileSize"],
    ["fileSize an object", '{"fileSize":{"bytes":1}}', "wrong_type", "fileSize"],
    ["lastModified a number", '{"lastModified":1694444160}', "wrong_type", "lastModified"],
    ["libraryName a number", '{"libraryName":1}', "wrong_type", "libraryName"],
    ["libraryOwner true", '{"libraryOwner":true}', "wrong_type", "libraryOwner"],
    ["packageName false", '{"packageName":false}', "wrong_type", "packageName"],
    ["packageVersion a number", '{"packageVersion":4.3}', "wrong_type", "packageVersion"],
    ["NUL in a key", '{"fileSize":"1 MB","\\u0000":1}', "bad_text", "?"],
    ["NUL in the description", '{"description":"a\\u0000"}', "bad_text", "description"],
    ["NUL in an unknown field", '{"fileSize":"1 MB","x":{"y":["\\u0000"]}}', "bad_text", "x.y[0]"],
    ["half a pair in the package", '{"packageName":"\\ud800"}', "bad_text", "packageName"],
    ["a wide number", '{"fileSize":"1 MB","x":1e140000}', "out_of_range", "x"],
    ["501 levels", `{"fileSize":"1 MB","x":${"[".repeat(500)}${"]".repeat(500)}}`, "too_deep", ""],
  ] as const;
  const { simcat, query, service } = await syncedFixture(
    bad.map(([name]) => library("alice", name, { scenarios: [1, 2] })),
  );
  for (const [name, metadata] of bad) {
    service.change("alice", name, {
      lastModified: NOW,
      scenarios: [scenario(1), scenario(3)],
      source: { metadata },
    });
  }

  const ended = await simcat(["sync"]);

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
  expect((await simcat(["sync"])).code).toBe(0);
  expect(await query("SELECT count(*)::int AS open FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([
    { open: 0 },
  ]);
  expect(await query("SELECT count(*)::int AS removed FROM simcat.scenarios WHERE removed_at IS NOT NULL")).toEqual([
    { removed: bad.length },
  ]);
});

test("rejected metadata leaves the doubt about the stored one (fault 57)", async () => {
  const { call, simcat, query, service } = await fixture([
    library("alice", "Fire", { metadataFields: { lastModified: "2023-09-11 at 2:57 PM" } }),
  ]);
  const suspectReads = () => query("SELECT suspect_reads, reread_reason FROM simcat.library_sync");
  await call(["sync"]);
  expect(await suspectReads()).toEqual([{ suspect_reads: 1, reread_reason: null }]);
  service.change("alice", "Fire", { source: { metadata: '{"fileSize":5}' } });

  expect((await simcat(["sync", "--library", "alice/Fire"])).code).toBe(2);

  expect(await suspectReads()).toEqual([{ suspect_reads: 1, reread_reason: "rejects" }]);
});

test("a new library with bad metadata is stored without it and remains due for a read (fault 36)", async () => {
  const { simcat, query } = await fixture([
    library("alice", "Fire", { scenarios: [1], metadataFields: { packageVersion: 4 } }),
  ]);

  expect((await simcat(["sync"])).code).toBe(2);
  expect(await query("SELECT package_name, metadata, last_modified FROM simcat.libraries")).toEqual([
    { package_name: null, metadata: null, last_modified: OLD },
  ]);
  expect(await query("SELECT scenario_id::int AS id FROM simcat.scenarios")).toEqual([{ id: 1 }]);
  expect(await query("SELECT bookmark, reread_reason FROM simcat.library_sync")).toEqual([
    { bookmark: null, reread_reason: "rejects" },
  ]);
});

test("a library is keyed by its listing entry, whatever its metadata names (fault 48)", async () => {
  const { simcat, query } = await fixture([
    library("alice", "Fire", {
      libraryOwner: "Boreal Futures Lab",
      metadataFields: { libraryName: "Renamed", uploadUser: "bob" },
      scenarios: [1],
    }),
    library("bob", "Renamed", { libraryOwner: "alice" }),
  ]);

  expect((await simcat(["sync"])).code).toBe(0);
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
  const { simcat, query } = await fixture([
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

  expect((await simcat(["sync"])).code).toBe(0);
  const rows = await query<{ name: string }>(
    `SELECT l.library_name AS name, library_owner, l.last_modified, l.last_modified_at, file_size, file_size_bytes, package_name, package_version,
       l.description, parent_id, scenario_name, is_result, s.last_modified AS scenario_modified, s.last_modified_at AS scenario_modified_at,
       s.description AS scenario_description
     FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) ORDER BY 1`,
  );
  const all = {
    library_owner: null,
    last_modified: null,
    last_modified_at: null,
    file_size: null,
    file_size_bytes: null,
    package_name: null,
    package_version: null,
    description: null,
    parent_id: null,
    scenario_name: null,
    is_result: null,
    scenario_modified: null,
    scenario_modified_at: null,
    scenario_description: null,
  };
  expect(rows).toEqual([
    { name: "absent", ...all },
    {
      name: "empty",
      ...all,
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
    { name: "null", ...all },
  ]);
});

test("missing or odd parents and contradictory results are stored as sent and flagged (faults 37, 38)", async () => {
  const { simcat, query } = await fixture([
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

  expect((await simcat(["sync"])).code).toBe(0);
  expect(
    await query(
      "SELECT scenario_id::int AS id, parent_id::int AS parent, is_result AS result FROM simcat.scenarios ORDER BY 1",
    ),
  ).toEqual([
    { id: 1, parent: null, result: false },
    { id: 2, parent: 0, result: false },
    { id: 3, parent: 99, result: true },
    { id: 4, parent: 4, result: true },
    { id: 5, parent: 6, result: true },
    { id: 6, parent: 5, result: true },
    { id: 7, parent: null, result: true },
    { id: 8, parent: 1, result: false },
    { id: 9, parent: -1, result: true },
    { id: 10, parent: null, result: false },
    { id: 11, parent: 0, result: true },
  ]);
  const flagged = "SELECT scenario_id::int AS id, parent_id::int AS parent FROM simcat_report.scenario_parents WHERE";
  expect(await query(`${flagged} parent_missing ORDER BY 1`)).toEqual([
    { id: 3, parent: 99 },
    { id: 9, parent: -1 },
  ]);
  expect(await query(`${flagged} is_own_parent ORDER BY 1`)).toEqual([{ id: 4, parent: 4 }]);
  expect(await query(`${flagged} parent_id IS NULL ORDER BY 1`)).toEqual(
    [1, 2, 7, 10, 11].map((id) => ({ id, parent: null })),
  );
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
  const { simcat, query } = await fixture([
    library("alice", "Fire", {
      source: {
        entry: `{"libraryName":"Fire","uploadUser":"alice","lastModified":"${OLD}",${extra}}`,
        metadata: `{"libraryName":"Fire",${extra}}`,
        scenarios: `[{"scenarioId":1,${extra}}]`,
      },
    }),
  ]);

  expect((await simcat(["sync"])).code).toBe(0);
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
  const { simcat, query, service } = await syncedFixture([
    library("alice", "Fire", { scenarios: [scenario(1, { fields: { tags: ["a"] } })] }),
  ]);
  service.change("alice", "Fire", {
    metadataFields: { stars: 5 },
    scenarios: [scenario(1, { fields: { tags: ["b"] } })],
  });

  expect((await simcat(["backfill"])).code).toBe(0);
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
    ["1 MB", 1_048_576],
    ["1.5 GB", 1_610_612_736],
    ["216 KB  (221,184 B)", 221_184],
    ["216 KB (221184 bytes)", 221_184],
    ["0 KB", 0],
    ["0 B", 0],
    ["1,024 B", 1_024],
    ["512 bytes", 512],
    ["2 TB", 2_199_023_255_552],
    ["240KB", 245_760],
    ["240 kb", 245_760],
    ["1 KiB", 1_024],
    ["N/A", null],
    ["", null],
    [" ", null],
    ["0", null],
    ["240", null],
    ["-1 KB", null],
    ["1e3 KB", null],
    ["240 KB (9,999,999 B)", null],
    ["1 MB (5 B)", null],
    ["1,23 MB", null],
    ["unknown", null],
    ["99999999 PB", null],
    ["NaN KB", null],
    [null, null],
  ];
  const { simcat, query } = await fixture(
    sizes.map(([fileSize], at) => library("alice", String(at).padStart(2, "0"), { fileSize })),
  );

  const ended = await simcat(["sync"]);

  expect(ended.code).toBe(0);
  expect(
    await query(
      "SELECT file_size, file_size_bytes::float8 AS bytes, metadata->>'fileSize' AS raw FROM simcat.libraries ORDER BY library_name",
    ),
  ).toEqual(sizes.map(([file_size, bytes]) => ({ file_size, bytes, raw: file_size })));
  expect(logLines(ended).filter(({ code }) => code === "sizes_unparsed")).toMatchObject([{ level: "warn" }]);
});
