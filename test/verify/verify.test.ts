import { describe, expect, test } from "vitest";
import { InterruptedError } from "../../src/errors.ts";
import type { toVerifyJson } from "../../src/output/verify.ts";
import { always, headers, retryAfter, status } from "../faults/answers.ts";
import { freshTestDatabase } from "../support/database.ts";
import { type Fixture, syncedFixture as stored } from "../support/fixture.ts";
import { AWKWARD_NAMES, library, numbered, scenario } from "../support/organization.ts";
import { rowVersions } from "../support/row-versions.ts";

describe("a database that is as the service", () => {
  test("agrees also while a run holds the lease, and nothing is written", async () => {
    const names = AWKWARD_NAMES.map((name) =>
      library(`${name} owner`, name, {
        description: name,
        scenarios: [scenario(1, { scenarioName: name }), scenario(2, { parentId: 1, description: name })],
      }),
    );
    const sides = await stored(names);
    await sides.query("UPDATE simcat.leases SET expires_at = now() + interval '1 h'");
    const before = await rowVersions(sides.query);

    const { code, stdout, stderr } = await verify(sides);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(withoutTime(stdout)).toBe(
      `verify: the database agrees with the service (… s)
  libraries  ${names.length} listed, ${names.length} agree
  scenarios  ${2 * names.length} compared
`,
    );
    expect(await rowVersions(sides.query)).toEqual(before);
    expect(sides.service.violations).toEqual([]);
  });

  test("agrees on fields that are unknown, null, beyond 2^53, repeated or oddly written, and on no library", async () => {
    const odd = library("o", "odd", {
      lastModified: null,
      fileSize: null,
      description: null,
      entryFields: { more: [1, { deep: null }] },
      source: {
        scenarios: `[{"scenarioId": 9223372036854775807, "parentId": 9007199254740993, "x": 1.0e2, "y": "\\u00e9"},
          {"y": "é", "scenarioId": 9223372036854775807, "parentId": 9007199254740993, "x": 1.0e2}, {"scenarioId": 2}]`,
      },
    });
    const sides = await stored([odd]);
    const { code, out } = await verifyJson(sides);
    expect({ code, ...out }).toMatchObject({ code: 0, agrees: true, scenarios_compared: 2, differences: [] });
    expect((await verify(await stored([]))).code).toBe(0);
  });
});

/** Columns without a counterpart in the service. */
const OWN_COLUMNS = ["first_seen_at", "changed_at", "run_id"];

/** By column: an SQL value to write over it, and the texts to find. */
const TAMPERED: Readonly<
  Record<"libraries" | "scenarios", readonly [column: string, sql: string, stored: string | null, service: unknown][]>
> = {
  libraries: [
    ["library_owner", "NULL", null, "o"],
    ["last_modified", "last_modified || ' '", "2023-09-11 at 2:56 PM ", "2023-09-11 at 2:56 PM"],
    ["last_modified_at", "last_modified_at + '1 us'", "2023-09-11 14:56:00.000001+00", "2023-09-11 14:56:00+00"],
    ["file_size", "''", "", "240 KB"],
    ["file_size_bytes", "0", "0", "245760"],
    ["package_name", "'Landscape'", "Landscape", "landscape"],
    ["package_version", "'4.3.7'", "4.3.7", "4.3.6"],
    ["description", "'null'", "null", null],
    ["listed", "'{}'", "{}", expect.stringMatching(/^{"uploadUser": "o", /)],
    ["metadata", "'{}'", "{}", expect.stringMatching(/^{"fileSize": "240 KB", /)],
  ],
  scenarios: [
    ["parent_id", "0", "0", "1"],
    ["scenario_name", "'Result'", "Result", "Result 7"],
    ["is_result", "NULL", null, "true"],
    ["last_modified", "NULL", null, "2023-09-11 at 2:56 PM"],
    ["last_modified_at", "NULL", null, "2023-09-11 14:56:00+00"],
    ["description", "'x'", "x", null],
    ["raw", "'[]'", "[]", expect.stringContaining('"Result 7"')],
  ],
};

/** By column of a key, and `removed_at`: an SQL value, and the differences to find. */
const MOVED = {
  libraries: [
    ["owner", "'somebody'", { "o/owner": ["missing"], "somebody/owner": ["unlisted"] }],
    ["library_name", "'something'", { "o/library_name": ["missing"], "o/something": ["unlisted"] }],
    ["removed_at", "now()", { "o/removed_at": ["removed"] }],
  ],
  scenarios: [
    ["owner", "'p'", { "o/owner": ["content", "missing"], "p/owner": ["content", "unlisted"] }],
    ["library_name", "'other'", { "o/library_name": ["content", "missing"], "o/other": ["content", "unlisted"] }],
    ["scenario_id", "-7", { "o/scenario_id": ["content", "missing", "unlisted"] }],
    ["removed_at", "now()", { "o/removed_at": ["content", "removed"] }],
  ],
} as const;

test.each(["libraries", "scenarios"] as const)("a wrong value is found in every column of %s", async (table) => {
  const database = await freshTestDatabase();
  const columns =
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'simcat' AND table_name = $1";
  const cases = [...TAMPERED[table], ...MOVED[table]];
  const named = [...cases.map(([column]) => column), ...OWN_COLUMNS];
  expect((await database.lines(columns, [table])).sort()).toEqual(named.sort());

  // A library for each column; two more receive a scenario.
  const scenarios = table === "libraries" ? [] : [1, scenario(7, { parentId: 1 })];
  const own = cases.map(([column]) => library("o", column, { scenarios }));
  const others = [["o", "other"] as const, ["p", "owner"] as const];
  const sides = await stored([...own, ...others.map(([owner, name]) => library(owner, name, { scenarios: [1] }))]);
  const row = table === "scenarios" ? " AND scenario_id = 7" : "";
  for (const [column, sql] of cases) {
    const where = `owner = 'o' AND library_name = '${column}'${row}`;
    await sides.query(`UPDATE simcat.${table} SET ${column} = ${sql} WHERE ${where}`);
  }
  const before = await rowVersions(sides.query);

  const { code, out } = await verifyJson(sides);

  expect(code).toBe(2);
  expect(await rowVersions(sides.query)).toEqual(before);
  const found = new Map(out.differences.map((one) => [`${one.owner}/${one.library}`, one]));
  for (const [column, , text, service] of TAMPERED[table]) {
    const { kind, columns, scenarios } = found.get(`o/${column}`) ?? {};
    const differs = { kind: "content", columns: [{ column, stored: text, service }] };
    expect(kind).toBe("content");
    if (table === "libraries") expect({ kind, columns }).toEqual(differs);
    else expect(scenarios?.examples).toEqual([{ id: 7, ...differs }]);
    expect(table === "libraries" ? scenarios?.examples : columns).toEqual([]);
    found.delete(`o/${column}`);
  }
  const kinds = [...found].map(([name, { kind, scenarios }]) => [
    name,
    [kind, ...scenarios.examples.map((one) => one.kind)],
  ]);
  expect(Object.fromEntries(kinds)).toEqual(Object.assign({}, ...MOVED[table].map(([, , expected]) => expected)));
});

describe("a library or scenario on one side only", () => {
  test("is found on both", async () => {
    const sides = await stored([
      library("o", "deleted", { scenarios: [1] }),
      library("o", "shorter", { scenarios: [1, 2, 3] }),
      library("o", "gone", { scenarios: [1] }),
    ]);
    await sides.query("DELETE FROM simcat.scenarios WHERE library_name = 'deleted' OR scenario_id = 3");
    await sides.query("DELETE FROM simcat.libraries WHERE library_name = 'deleted'");
    sides.service.remove("o", "gone");
    sides.service.put(library("o", "shorter", { scenarios: [2, 3, 4] }));

    const { code, stdout } = await verify(sides);
    expect(code).toBe(2);
    expect(withoutTime(stdout)).toBe(
      `verify: 3 libraries differ (… s)
  libraries  2 listed, 0 agree
  scenarios  3 compared; differences are printed as stored → service
  differs    o/deleted: is listed and was never stored
  differs    o/gone: is stored and not listed
  differs    o/shorter: 2 scenarios not stored (3, 4); 1 scenario stored and not in the list (1)
  to do      simcat backfill --restart --library o/shorter
             simcat sync reads 1 library in any case, and stores what it can
             simcat sync marks as removed what is no longer listed, unless a guard holds it
`,
    );
  });

  test("does not count if the listing is incomplete, which is reported", async () => {
    const sides = await stored([library("o", "a"), library("o", "b")]);
    sides.service.always({ operation: "listing" }, { kind: "alterItem", index: 1, remove: ["uploadUser"] });
    const incomplete = expect.stringContaining("SIMCAT_DEFAULT_OWNER");
    const rejects = [{ owner: null, library: null, count: 1 }];
    const out = { differences: [], incomplete, rejects, libraries_agreeing: 1 };
    expect(await verifyJson(sides)).toMatchObject({ code: 2, out });
  });
});

describe("a library that differs", () => {
  test("is read once more on both sides, and the others are not", async () => {
    const sides = await stored([library("o", "same", { scenarios: [1] }), library("o", "other", { scenarios: [1] })]);
    await sides.query("UPDATE simcat.scenarios SET description = 'x' WHERE library_name = 'other'");
    sides.service.clearRequests();

    expect((await verify(sides)).code).toBe(2);
    expect(sides.service.requests.map(({ path }) => path).sort()).toEqual([
      "/libs",
      "/libs",
      "/libs/user/o/other/metadata",
      "/libs/user/o/other/metadata",
      "/libs/user/o/other/scenarios",
      "/libs/user/o/other/scenarios",
      "/libs/user/o/same/metadata",
      "/libs/user/o/same/scenarios",
    ]);
  });

  test("at the first look only, on either side, counts for nothing", async () => {
    let listings = 0;
    const sides = await stored([library("o", "a", { scenarios: [1] })], {
      onRequest: ({ path }) => {
        if (path !== "/libs" || ++listings < 3) return undefined;
        return sides.query("UPDATE simcat.libraries SET description = NULL").then(() => {});
      },
    });
    await sides.query("UPDATE simcat.libraries SET description = 'x'");
    listings = 1;
    expect((await verify(sides)).code).toBe(0);

    sides.service.once({ operation: "scenarios" }, { kind: "alterItem", index: 0, set: { scenarioName: "new" } });
    const stdout = expect.stringContaining("  passing    1 library differed, and agreed when read again");
    expect(await verify(sides)).toMatchObject({ code: 0, stdout });
  });

  test("is reported although the second look fails (fault 347)", async () => {
    const sides = await stored([library("o", "a", { scenarios: [1] }), library("o", "b")]);
    await sides.query("UPDATE simcat.scenarios SET description = 'x'");
    sides.service.script([{ ...always({ operation: "listing" }, status(503)), skip: 1 }]);
    const incomplete = expect.stringMatching(/^not confirmed by a second look: GET .libs answered 503/);
    const differences = [{ library: "a", scenarios: { content: 1 } }];
    expect(await verifyJson(sides)).toMatchObject({ code: 2, out: { differences, incomplete, libraries_agreeing: 1 } });
  });

  test("because it was removed while it was read, is no longer listed", async () => {
    const sides = await stored([library("o", "a", { scenarios: [1] }), library("o", "b")]);
    sides.service.once({ operation: "listing" }, { kind: "between", edit: (one) => void one.remove("o", "a") });
    const differences = [{ library: "a", kind: "unlisted" }];
    expect(await verifyJson(sides)).toMatchObject({ code: 2, out: { differences, unread: [] } });
  });

  test("because it was edited since the last sync, needs only simcat sync (fault 124)", async () => {
    const edited = (index: number, lastModified: string) =>
      library("o", `l${index}`, { lastModified, description: lastModified, scenarios: [1, 2] });
    const sides = await stored([0, 1, 2].map((index) => edited(index, "2023-09-11 at 2:56 PM")));
    for (const index of [0, 1]) sides.service.put(edited(index, "2023-09-12 at 9:00 AM"));
    sides.service.put(library("o", "new"));
    const { stdout } = await verify(sides);
    expect(stdout).toContain("  to do      simcat sync reads 3 libraries in any case, and stores what it can");
    expect(stdout).not.toContain("backfill");

    await sides.call(["sync"]);
    expect((await verify(sides)).code).toBe(0);
  });

  test("because none of its items could be stored, is promised a read, but no store (fault 363)", async () => {
    const bad = library("o", "bad", { scenarios: [scenario(0, { source: '{"scenarioId":"1"}' })] });
    const sides = await stored([library("o", "good")]);
    sides.service.put(bad);
    expect((await sides.call(["sync"])).stdout).toContain("failed     o/bad: all_rejected");
    expect((await verify(sides)).stdout).toContain(
      "  differs    o/bad: is listed and was never stored\n" +
        "  to do      simcat sync reads 1 library in any case, and stores what it can\n",
    );
  });

  test("before its date has settled, or while it backs off, needs a later sync (fault 124)", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const sides = await stored(
      ["settling", "failing", "never stored"].map((name) => library("o", name, { lastModified: today })),
    );
    await sides.query(`
      UPDATE simcat.library_sync SET bookmark_seen_at = now() - interval '1 h',
        failures = CASE WHEN library_name = 'settling' THEN 0 ELSE 9 END, last_failed_at = now();
      DELETE FROM simcat.scenarios WHERE library_name = 'never stored';
      DELETE FROM simcat.libraries WHERE library_name = 'never stored'`);
    for (const name of ["settling", "failing"])
      sides.service.put(library("o", name, { lastModified: today, description: "edited" }));
    const { stdout } = await verify(sides);
    expect(stdout).toContain("  to do      simcat sync reads 3 libraries later; simcat explain OWNER/NAME says when");
    expect(stdout).not.toContain("backfill");
  });

  test("and that the next sync reads without a change of content, needs a backfill that compares every row", async () => {
    const sides = await stored([library("o", "undated", { lastModified: null })]);
    await sides.query("UPDATE simcat.libraries SET description = 'x'");
    expect((await verify(sides)).stdout).toContain("simcat backfill --restart --library o/undated");
  });

  test("is shown where two values differ, not with their equal beginning, to the last digit (fault 147)", async () => {
    const text = `${"the same ".repeat(100)}end`;
    const wide = (digit: number) => {
      const scenarios = `[{"scenarioId": 1, "pad": "${"x".repeat(5_000)}", "n": 12345678901234567890.12345678${digit}}]`;
      return library("o", "a", { description: text, source: { scenarios } });
    };
    const sides = await stored([wide(1)]);
    await sides.query("UPDATE simcat.libraries SET description = replace(description, 'end', 'other end')");
    sides.service.put(wide(2));
    const { stdout } = await verify(sides);
    expect(stdout).toMatch(/o\/a: description: ….{0,9}the same other end" → ….{0,9}the same end"/);
    const stringEnding = (end: string) => expect.stringMatching(new RegExp(`^….*the same ${end}$`));
    const [different] = (await verifyJson(sides)).out.differences;
    expect(different?.columns).toEqual([
      { column: "description", stored: stringEnding("other end"), service: stringEnding("end") },
    ]);
    const number = (digit: number) => expect.stringContaining(`{"n": 12345678901234567890.12345678${digit},`);
    expect(different?.scenarios.examples[0]?.columns).toEqual([
      { column: "raw", stored: number(1), service: number(2) },
    ]);
  });

  test("is fixed by the command in the hint, which blames no date for it (fault 322)", async () => {
    const sides = await stored([library("o", 'it\'s 50% "done"', { scenarios: [1] })]);
    await sides.query("UPDATE simcat.scenarios SET scenario_name = 'x'");
    await sides.query("UPDATE simcat.libraries SET description = 'x'");
    const { stdout } = await verify(sides);
    expect(stdout).toContain(`to do      simcat backfill --restart --library 'o/it'\\''s 50%25 "done"'`);

    await sides.call(["backfill", "--restart", "--library", 'o/it\'s 50%25 "done"']);
    const counts = "SELECT libraries_changed, silent_changes FROM simcat.sync_runs ORDER BY id DESC LIMIT 1";
    expect(await sides.lines(counts)).toEqual(["1 0"]);
    expect((await verify(sides)).code).toBe(0);
  });
});

describe("a library that cannot be compared", () => {
  test("because it cannot be read, is reported with a remedy, and the others are compared (fault 325)", async () => {
    const sides = await stored([library("o", "a"), library("o", "b")]);
    await sides.query("UPDATE simcat.libraries SET description = 'x' WHERE library_name = 'b'");
    sides.service.always({ library: "a" }, status(500));
    const { code, stdout } = await verify(sides);
    expect(code).toBe(2);
    expect(stdout).toContain("verify: 1 library differs, 1 library could not be read");
    expect(stdout).toContain('  differs    o/b: description: "x" → NULL');
    expect(stdout).toMatch(/unread {5}o\/a: server_error: .*\n {2}to do.*\n.*docs\/operations.md has a remedy/);
  });

  test("because it was rejected, is reported, the rest is compared; no run received it yet (fault 253)", async () => {
    const sides = await stored([library("o", "a", { scenarios: [1, 2, 3] })]);
    sides.service.script([
      always({ operation: "scenarios" }, { kind: "alterItem", index: 1, set: { isResult: "no" } }),
      always({ operation: "metadata" }, { kind: "alterItem", index: 0, set: { fileSize: 1 } }),
    ]);
    const rejects = [{ owner: "o", library: "a", count: 2 }];
    const expected = { differences: [], scenarios_compared: 2, rejects };
    expect(await verifyJson(sides)).toMatchObject({ code: 2, out: expected });
    expect((await verify(sides)).stdout).toContain("simcat status lists those that a run received\n");
    expect((await sides.call(["status"])).stdout).not.toContain("open reject");

    await sides.query("UPDATE simcat.scenarios SET parent_id = 9 WHERE scenario_id = 3");
    const { out } = await verifyJson(sides);
    expect(out.differences[0]?.scenarios.examples).toMatchObject([{ id: 3, columns: [{ column: "parent_id" }] }]);
  });
});

test("a list too long to be held is compared in parts, to the last item", async () => {
  const ids = Array.from({ length: 12_000 }, (_, at) => at + 1);
  const sides = await stored([library("o", "long", { scenarios: ids })]);
  expect(await verifyJson(sides)).toMatchObject({ code: 0, out: { scenarios_compared: 12_000 } });

  await sides.query(`
    UPDATE simcat.scenarios SET is_result = true WHERE scenario_id IN (1, 6000, 12000);
    DELETE FROM simcat.scenarios WHERE scenario_id = 2;
    UPDATE simcat.scenarios SET removed_at = now() WHERE scenario_id = 11000;
    UPDATE simcat.scenarios SET scenario_id = 20000 WHERE scenario_id = 7000`);
  // The first item once more, spelled otherwise: known by its row long after its text was let go.
  sides.service.always({ operation: "scenarios" }, { kind: "duplicateItem", index: 2 });
  const { code, out } = await verifyJson(sides);
  expect(code).toBe(2);
  expect(out.differences[0]?.scenarios).toMatchObject({ content: 3, missing: 2, removed: 1, unlisted: 1 });
  expect(out.rejects).toEqual([]);
});

test("promises no store of another organization's listing, which a sync refuses (fault 356)", async () => {
  const sides = await stored(numbered(10));
  for (const { name } of numbered(10)) sides.service.remove("alice", name);
  sides.service.put(library("eve", "other"));
  const advice =
    "  to do      the listing has no library of the copy: is it of another organization? If not, simcat sync --allow-removals stores it; simcat sync stores nothing\n";
  expect((await verify(sides)).stdout.endsWith(advice)).toBe(true);
  expect((await sides.call(["sync"])).stdout).toContain("nothing was stored or marked");

  // One shared library makes it the organization's.
  sides.service.put(library("alice", "Lib 0", { scenarios: [1, 2, 3] }));
  expect((await verify(sides)).stdout).toContain("simcat sync reads 1 library in any case, and stores what it can");
});

test("an entry that cannot be requested takes none away from those that agree (fault 322)", async () => {
  const sides = await stored([library("o", "a"), library("o", "b")]);
  sides.service.always({ operation: "listing" }, { kind: "duplicateItem", index: 0, set: { libraryName: ".." } });

  const { out } = await verifyJson(sides);

  expect(out).toMatchObject({ libraries_listed: 2, libraries_agreeing: 2, rejects: [{ library: ".." }] });
});

test("two contradicting items of a long list are rejected and no difference (fault 253)", async () => {
  const pad = "y".repeat(200);
  const items = Array.from({ length: 6_000 }, (_, at) => `{"scenarioId": ${at + 1}, "x": 1, "y": "${pad}"}`);
  const list = (last: string) => library("o", "long", { source: { scenarios: `[${items.join()}, ${last}]` } });
  const sides = await stored([list(`{"x": 1, "scenarioId": 3, "y": "${pad}"}`)]);
  expect(await verifyJson(sides)).toMatchObject({ code: 0, out: { scenarios_compared: 6_000 } });

  sides.service.put(list(`{"x": 2, "scenarioId": 3, "y": "${pad}"}`));
  const rejects = [{ library: "long", count: 2 }];
  const rejected = { code: 2, out: { differences: [], scenarios_compared: 5_999, rejects } };
  expect(await verifyJson(sides)).toMatchObject(rejected);
  // A run that saw both from the start has stored neither.
  await sides.query("DELETE FROM simcat.scenarios WHERE scenario_id = 3");
  expect(await verifyJson(sides)).toMatchObject(rejected);
});

test("a selection limits both the reads and the report, and may not be malformed or unknown", async () => {
  const sides = await stored([library("o", "a"), library("o", "b"), library("p", "c"), library("q", "gone")]);
  await sides.query("UPDATE simcat.libraries SET description = 'x'");
  sides.service.remove("q", "gone");
  const found = async (...args: string[]) =>
    (await verifyJson(sides, args)).out.differences.map(({ owner, library }) => `${owner}/${library}`);

  expect(await found("--library", "o/b")).toEqual(["o/b"]);
  expect(await found("--owner", "p", "--library", "o/a")).toEqual(["o/a", "p/c"]);
  expect(await found("--library", "q/gone")).toEqual(["q/gone"]);
  expect(await found()).toEqual(["o/a", "o/b", "p/c", "q/gone"]);
  for (const name of ["o/unknown", "o", "o/a/b", "o/%"])
    expect([name, (await verify(sides, ["--library", name])).code]).toEqual([name, 64]);
});

describe("ends with its own exit code", () => {
  test("69, 76 or 77, and no output, if there is no listing", async () => {
    const sides = await stored([library("o", "a")]);
    for (const [expected, action] of [
      [77, status(401)],
      [77, status(403)],
      [76, { kind: "html" }],
      [76, status(404)],
      [69, status(503)],
    ] as const) {
      sides.service.always({ operation: "listing" }, action);
      const { code, stdout, stderr } = await verify(sides);
      expect({ action, code, stdout }).toEqual({ action, code: expected, stdout: "" });
      expect(stderr).not.toBe("");
    }
  });

  test("77 when the key is revoked while content is read; a single 401 is that library's own", async () => {
    const sides = await stored([library("o", "a"), library("o", "b")]);
    sides.service.always({ library: "a" }, status(401));
    const unread = [{ library: "a", code: "unauthorized" }];
    expect(await verifyJson(sides)).toMatchObject({ code: 2, out: { unread } });

    sides.service.script([{ ...always({}, status(401)), skip: 1 }]);
    expect((await verify(sides)).code).toBe(77);
  });

  test("69 when twenty libraries in a row cannot be read", async () => {
    const sides = await stored(Array.from({ length: 20 }, (_, at) => library("o", `l${at}`)));
    sides.service.always({ pathPattern: "/user/" }, status(500));
    expect((await verify(sides)).code).toBe(69);
  });

  test("2 if only libraries fail that failed in the last run too, and their waits pause no other (fault 211)", async () => {
    const broken = Array.from({ length: 20 }, (_, at) => library("broken", `l${at}`));
    const sides = await stored([...broken, library("good", "a"), library("good", "b")]);
    await sides.query("UPDATE simcat.library_sync SET failures = 1 WHERE owner = 'broken'");
    sides.service.always({ owner: "broken" }, status(500));
    expect(await verifyJson(sides)).toMatchObject({ code: 2, out: { libraries_unread: 20, libraries_agreeing: 2 } });

    sides.service.always({ owner: "broken" }, retryAfter(503, "1"));
    const patient = await verify(sides, [], { SIMCAT_MAX_RETRIES: "1" });
    expect(patient.code).toBe(2);
    expect(patient.stderr).not.toContain('"code":"throttled"');

    sides.service.always({ pathPattern: "/user/" }, status(500));
    expect((await verify(sides)).code).toBe(69);
  });

  test("78 on a database that lacks a column or simcat's tables, which it does not make", async () => {
    const sides = await stored([library("o", "a", { scenarios: [1] })]);
    await sides.query("ALTER TABLE simcat.scenarios RENAME raw TO source");
    expect(await verify(sides)).toMatchObject({ code: 78, stderr: expect.stringContaining("raw") });

    const database = await freshTestDatabase({ empty: true });
    expect((await verify(sides, [], { DATABASE_URL: database.url })).code).toBe(78);
    expect(await database.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'simcat%'")).toEqual([]);
  });

  test("143 when it is stopped", async () => {
    const stop = new AbortController();
    let requests = 0;
    const sides = await stored([library("o", "a")], {
      onRequest: () => {
        // The first for content.
        if (++requests === 2) stop.abort(new InterruptedError("SIGTERM"));
        return undefined;
      },
    });
    expect((await sides.call(["verify"], {}, stop.signal)).code).toBe(143);
  });
});

test("text of the service or the database cannot forge a line or an escape", async () => {
  const evil = '\u001b[31m"x\n{"level":"info"}\u202e';
  const sides = await stored([
    library(evil, evil, { description: evil, scenarios: [scenario(1, { description: evil })] }),
  ]);
  await sides.query("UPDATE simcat.scenarios SET description = description || E'\\n\\u001b' || repeat('x', 1000)");
  for (const args of [[], ["--json"]]) {
    const { code, stdout } = await verify(sides, args);
    expect(code).toBe(2);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    if (args.length === 0) expect(stdout.trimEnd().split("\n")).toHaveLength(5);
  }
});

test("one page of a listing is incomplete, and no entry to correct in the service (fault 225)", async () => {
  const sides = await stored([library("o", "a")]);
  sides.service.always({ operation: "listing" }, { kind: "headers", set: { link: '</libs?page=2>; rel="next"' } });
  const { code, stdout } = await verify(sides);
  expect(code).toBe(2);
  expect(withoutTime(stdout)).toBe(
    `verify: the listing is incomplete (… s)
  libraries  1 listed, 1 agree
  scenarios  0 compared
  listing    the service sent only one page of its list (Link: rel=next), and simcat knows no way to ask for the rest; libraries that it lacks were not compared
`,
  );
  expect((await verifyJson(sides)).out).toMatchObject({ agrees: false, rejects: [] });
});

test("a cache that answered is named, also with --quiet: it may not know the last edit (fault 225)", async () => {
  const sides = await stored([library("o", "a", { scenarios: [1] }), library("o", "b", { scenarios: [1] })]);
  expect(await verify(sides, ["--quiet"])).toMatchObject({ code: 0, stdout: "" });
  expect((await verifyJson(sides)).out.cached).toBeNull();
  const cached = (stored: string) =>
    `a cache had stored an answer for ${stored}: later edits were not compared. Is there a caching proxy before the service?`;

  sides.service.always({ operation: "listing" }, headers({ age: "600" }));
  sides.service.always({ library: "b", operation: "scenarios" }, headers({ age: "7200" }));
  const { code, stdout } = await verify(sides, ["--quiet"]);
  expect(code).toBe(0);
  expect(withoutTime(stdout)).toBe(
    `verify: the database agrees with the service (… s)
  libraries  2 listed, 2 agree
  scenarios  2 compared
  cached     ${cached("2 h 00 min")}
`,
  );
  sides.service.always({ library: "a", operation: "metadata" }, headers({ age: "soon" }));
  expect(await verifyJson(sides)).toMatchObject({ code: 0, out: { agrees: true, cached: cached("an unknown time") } });
});

test("counts what agrees as of the second look (fault 347)", async () => {
  const names = ["comes", "gone", "leaves", "left", "rejected", "same"];
  let secondLook = () => {};
  let listings = 0;
  const sides = await stored(
    names.map((name) => library("o", name, { scenarios: [1] })),
    { onRequest: ({ path }) => void (path === "/libs" && ++listings === 2 && secondLook()) },
  );
  const look = (name: string) => library("o", name, { scenarios: [1], description: "edited" });
  sides.service.remove("o", "comes");
  sides.service.remove("o", "gone");
  for (const name of ["leaves", "left", "rejected"]) sides.service.put(look(name));
  secondLook = () => {
    sides.service.put(library("o", "comes", { scenarios: [1] }));
    for (const name of ["leaves", "left"]) sides.service.remove("o", name);
    sides.service.put(library("o", "rejected", { scenarios: [1] }));
    sides.service.once({ library: "rejected" }, { kind: "alterItem", index: 0, set: { fileSize: 1 } });
  };
  listings = 0;
  const { stdout } = await verify(sides);
  expect(withoutTime(stdout)).toBe(
    `verify: 3 libraries differ, some items could not be compared (… s)
  libraries  3 listed, 2 agree
  scenarios  4 compared; differences are printed as stored → service
  differs    o/gone: is stored and not listed
  differs    o/leaves: is stored and not listed
  differs    o/left: is stored and not listed
  rejects    o/rejected: 1 item could not be compared: fileSize is a number, a string was expected
  passing    1 library differed, and agreed when read again
  to do      simcat sync marks as removed what is no longer listed, unless a guard holds it
             correct the rejected items in the service; simcat status lists those that a run received
`,
  );

  // An incomplete second listing proves nothing about a library that it lacks.
  secondLook = () =>
    sides.service.once({ operation: "listing" }, { kind: "headers", set: { link: '</libs?page=2>; rel="next"' } });
  listings = 0;
  expect((await verify(sides)).stdout).not.toContain("passing");
});

const withoutTime = (stdout: string) => stdout.replace(/\([\d.]+ m?s\)/, "(… s)");

/** Compares both sides. Nothing is asked twice unless the test wants it. */
const verify = ({ call }: Fixture, args: readonly string[] = [], more: Readonly<Record<string, string>> = {}) =>
  call(["verify", ...args], { SIMCAT_MAX_RETRIES: "0", ...more });

async function verifyJson(made: Fixture, args: readonly string[] = []) {
  const { code, stdout } = await verify(made, ["--json", ...args]);
  return { code, out: JSON.parse(stdout) as ReturnType<typeof toVerifyJson> };
}

test.each([
  ["b", "removed", "UPDATE simcat.libraries SET removed_at = now() - interval '5 min' WHERE library_name = 'b'"],
  ["new", "unlisted", "SELECT 1"],
])("a cached listing older than the row of %s does not make it %s (faults 153, 215)", async (name, kind, change) => {
  const sides = await stored(["a", "b", "new"].map((one) => library("o", one)));
  await sides.query(change);
  if (kind === "unlisted") sides.service.remove("o", name);
  const verified = async (age: string) => {
    sides.service.always({ operation: "listing" }, headers({ age }));
    const { code, out } = await verifyJson(sides);
    return { code, differences: out.differences };
  };
  expect(await verified("600")).toEqual({ code: 0, differences: [] });
  expect(await verified("60")).toMatchObject({ code: kind === "removed" ? 2 : 0 });
  expect(await verified("0")).toMatchObject({ code: 2, differences: [{ library: name, kind }] });
});
