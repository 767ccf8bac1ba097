import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, NEWER, OLD, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines, logLines } from "./run-results.ts";

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
  const { call, lines, service } = await syncedFixture(
    bad.map(([name]) => library("alice", name, { scenarios: [1, 2] })),
  );
  for (const [name, metadata] of bad) {
    service.change("alice", name, { lastModified: NEWER, scenarios: [scenario(1), scenario(3)], source: { metadata } });
  }

  const ended = await call(["sync"]);

  expect(ended.code).toBe(2);
  const open = await lines(
    "SELECT library_name, payload, code, path, kind FROM simcat.rejects WHERE resolved_at IS NULL",
  );
  expect(open.sort()).toEqual(bad.map((one) => `${one.join(" ")} metadata`).sort());
  expect(libraryLogLines(ended)).toHaveLength(bad.length);
  const states = `SELECT DISTINCT file_size, package_name, package_version, library_owner, metadata->>'fileSize',
      last_modified, bookmark, reread_reason FROM simcat.libraries JOIN simcat.library_sync USING (owner, library_name)`;
  expect(await lines(states)).toEqual([`240 KB landscape 4.3.6 alice 240 KB ${NEWER} ${OLD} rejects`]);
  const scenarios =
    "SELECT scenario_id, removed_at IS NOT NULL, count(*) FROM simcat.scenarios GROUP BY 1, 2 ORDER BY 1";
  expect(await lines(scenarios)).toEqual(["1 false 9", "2 false 9", "3 false 9"]);

  for (const [name] of bad) service.change("alice", name, { source: {} });
  expect((await call(["sync"])).code).toBe(0);
  expect(await lines("SELECT id FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([]);
  expect(await lines(scenarios)).toEqual(["1 false 9", "2 true 9", "3 false 9"]);
});

test("a new library with bad metadata is stored without it and remains due for a read (fault 36)", async () => {
  const bad = { scenarios: [1], metadataFields: { packageVersion: 4 } };
  const { call, lines } = await fixture([library("alice", "Fire", bad)]);

  expect((await call(["sync"])).code).toBe(2);
  expect(await lines("SELECT package_name, metadata, last_modified FROM simcat.libraries")).toEqual([
    `NULL NULL ${OLD}`,
  ]);
  expect(await lines("SELECT scenario_id FROM simcat.scenarios")).toEqual(["1"]);
  expect(await lines("SELECT bookmark, reread_reason FROM simcat.library_sync")).toEqual(["NULL rejects"]);
});

test("a library is keyed by its listing entry, whatever its metadata names (fault 48)", async () => {
  const { call, lines } = await fixture([
    library("alice", "Fire", {
      libraryOwner: "Boreal Futures Lab",
      metadataFields: { libraryName: "Renamed", uploadUser: "bob" },
      scenarios: [1],
    }),
    library("bob", "Renamed", { libraryOwner: "alice" }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  const stored = "SELECT owner, library_name, library_owner, metadata->>'libraryName' FROM simcat.libraries ORDER BY 1";
  expect(await lines(stored)).toEqual(["alice Fire Boreal Futures Lab Renamed", "bob Renamed alice Renamed"]);
  expect(await lines("SELECT owner, library_name FROM simcat.scenarios")).toEqual(["alice Fire"]);
});

test("null and absent fields are stored as SQL NULL, empty ones as '' (faults 37, 40)", async () => {
  const nothing = { lastModified: null, fileSize: null, packageName: null, packageVersion: null, description: null };
  const empty = { fileSize: "", packageName: "", packageVersion: "", description: "" };
  const { call, lines } = await fixture([
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
  const columns = `library_owner, l.last_modified, l.last_modified_at, file_size, file_size_bytes, package_name, package_version,
    l.description, parent_id, scenario_name, is_result, s.last_modified, s.last_modified_at, s.description`;
  const stored = `SELECT l.library_name, num_nonnulls(${columns}), concat(${columns})
    FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) ORDER BY 1`;
  // Nine texts, and isResult, which is false.
  expect(await lines(stored)).toEqual(["absent 0 ", "empty 10 f", "null 0 "]);
});

test("missing or odd parents and contradictory results are stored as sent and flagged (faults 37, 38)", async () => {
  const { call, query, lines, service } = await fixture([
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
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect(await lines("SELECT scenario_id, problem FROM simcat_report.data_quality ORDER BY scenario_id")).toEqual([
    ...["3 parent_missing", "4 own_parent", "5 parent_cycle", "6 parent_cycle", "7 result_without_parent"],
    ...["8 parent_but_no_result", "9 parent_missing", "11 result_without_parent"],
  ]);
  expect(await lastRun(query)).toMatchObject({ status: "ok" });
});

test("unknown fields are kept exactly everywhere, and the run is ok (faults 35, 39)", async () => {
  const extra = '"x":12345678901234567890,"y":1.10,"z":{"deep":[null,"a\\u00e9",-0.0,1e3]},"":0';
  const { call, query, lines } = await fixture([
    library("alice", "Fire", {
      source: {
        entry: `{"libraryName":"Fire","uploadUser":"alice","lastModified":"${OLD}",${extra}}`,
        metadata: `{"libraryName":"Fire",${extra}}`,
        scenarios: `[{"scenarioId":1,${extra}}]`,
      },
    }),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  const kept = '12345678901234567890 1.10 {"deep": [null, "aé", 0.0, 1000]} 0';
  const fields = (column: string) => `${column}->>'x', ${column}->>'y', ${column}->>'z', ${column}->>''`;
  expect(await lines(`SELECT ${fields("listed")} FROM simcat.libraries`)).toEqual([kept]);
  expect(await lines(`SELECT ${fields("metadata")} FROM simcat.libraries`)).toEqual([kept]);
  expect(await lines(`SELECT ${fields("raw")} FROM simcat.scenarios`)).toEqual([kept]);
  expect(await lastRun(query)).toMatchObject({ status: "ok" });
});

test("a change only in an unknown field updates in place and makes no version (fault 39)", async () => {
  const { call, lines, service } = await syncedFixture([
    library("alice", "Fire", { scenarios: [scenario(1, { fields: { tags: ["a"] } })] }),
  ]);
  service.change("alice", "Fire", {
    metadataFields: { stars: 5 },
    scenarios: [scenario(1, { fields: { tags: ["b"] } })],
  });

  expect((await call(["backfill"])).code).toBe(0);
  const fields = (raw: string) => `SELECT ${raw}, run_id, changed_at = first_seen_at`;
  expect(await lines(`${fields("metadata->>'stars'")} FROM simcat.libraries`)).toEqual(["5 1 true"]);
  expect(await lines(`${fields("raw->'tags'->>0")} FROM simcat.scenarios`)).toEqual(["b 1 true"]);
  expect(await lines("SELECT owner FROM simcat.library_history")).toEqual([]);
  expect(await lines("SELECT owner FROM simcat.scenario_history")).toEqual([]);
});

test("file sizes keep their text; bytes are NULL, never 0, when they are uncertain (fault 60)", async () => {
  const sizes: [string | null, number | null][] = [
    ["240 KB", 245_760],
    ["216 KB  (221,184 B)", 221_184],
    ["2 TB", 2_199_023_255_552],
    ["N/A", null],
    ["1 MB (5 B)", null],
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

test("events add up to the sizes, also if a later version of simcat understands a stored text (fault 242)", async () => {
  const { call, query, lines } = await syncedFixture([library("alice", "Fire", { fileSize: "240 KB" })]);
  // As an earlier version left it, to which the text meant nothing.
  await query(`UPDATE simcat.libraries SET file_size_bytes = NULL;
    UPDATE simcat.events SET bytes = 0;
    UPDATE simcat.library_sync SET content_hash = NULL`);

  expect((await call(["backfill"])).code).toBe(0);
  expect(await lines("SELECT sum(byte_change) FROM simcat_report.events")).toEqual(["245760"]);
  expect(await lines("SELECT total_bytes FROM simcat_report.owner_storage")).toEqual(["245760"]);
  expect(await lines("SELECT field FROM simcat_report.changes")).toEqual([]);
});
