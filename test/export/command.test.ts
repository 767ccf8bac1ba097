import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createRole } from "../postgres/roles.ts";
import { holdLocks, untilSession, WAITS_FOR_LOCK } from "../postgres/sessions.ts";
import { addRows, day, deriveEvents } from "../reporting/stored-rows.ts";
import { callCli } from "../support/call-cli.ts";
import { type Ended, type Running, runCli, startCli } from "../support/cli.ts";
import { freshTestDatabase, useTestDatabase } from "../support/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { duckdb } from "./read-files.ts";

/** Two owners, three libraries, two versions of one of them, one run that saw everything. */
const database = useTestDatabase();
beforeAll(async () => {
  await addRows(database(), "sync_runs", [
    { id: 1, started_at: day(1), finished_at: day(1) },
    { id: 2, started_at: day(10), finished_at: day(10) },
  ]);
  await addRows(database(), "libraries", [
    { library_name: "forest", changed_at: day(10), description: "new" },
    { library_name: "lake" },
    { owner: "bob", library_name: "fire" },
  ]);
  await addRows(database(), "library_history", [
    { library_name: "forest", description: "old", valid_from: day(1), valid_to: day(10) },
  ]);
  await addRows(database(), "scenarios", [
    { scenario_id: 1 },
    { scenario_id: 2, first_seen_at: day(10), changed_at: day(10) },
  ]);
  await deriveEvents(database());
});

/** Exports with only the settings of the database. */
const simcat = (args: readonly string[], url = database().url): Promise<Ended> =>
  callCli(["export", ...args], { DATABASE_URL: url, SIMCAT_LOG_FORMAT: "pretty" });

/** The rows of a CSV file, without its header. */
const csvRows = (path: string) => readFileSync(path, "utf8").split("\r\n").slice(1, -1);

const jsonRows = (path: string): Record<string, unknown>[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe("simcat export", () => {
  test("writes libraries, scenarios and activity as Parquet by default, and prints what it wrote", async () => {
    const out = join(temporaryDirectory(), "a", "b");

    const { code, stdout, stderr } = await simcat(["--out", out]);

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const files = ["activity.parquet", "libraries.parquet", "manifest.json", "scenarios.parquet"];
    expect(readdirSync(out).sort()).toEqual(files);
    const [first, ...table] = stdout.trimEnd().split("\n");
    expect(first).toMatch(new RegExp(`^export: ${out} \\(3 views\\); complete as of .*Z, exported at .*Z$`));
    expect(table.map((line) => line.trim().split(/ {2,}/, 2).join(" "))).toEqual([
      "FILE ROWS",
      "libraries.parquet 3",
      "scenarios.parquet 2",
      "activity.parquet 6",
    ]);
    const names = await duckdb(`SELECT library_name FROM '${join(out, "libraries.parquet")}' ORDER BY 1`);
    expect(names.flat()).toEqual(["fire", "forest", "lake"]);
  });

  test("stamps each Parquet file and the manifest with the version, the moment and the filters", async () => {
    const out = temporaryDirectory();
    const args = ["libraries", "libraries", "--owner", "ann", "--since", "2026-01-02", "--out", out, "--json"];
    const { code, stdout } = await simcat(args);
    expect(code).toBe(0);
    const manifest = JSON.parse(stdout);
    const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(manifest).toMatchObject({
      simcat_version: "0.0.0",
      format: "parquet",
      exported_at: time,
      filters: { as_of: null, since: "2026-01-02T00:00:00.000000Z", owners: ["ann"] },
      views: [{ view: "libraries", file: "libraries.parquet", rows: 1 }],
    });
    expect(manifest.views[0].columns.slice(0, 1)).toEqual([
      { name: "owner", type: "text", comment: expect.stringContaining("Owner of the library") },
    ]);
    const stamp = await duckdb(
      `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${join(out, "libraries.parquet")}')`,
    );
    expect(Object.fromEntries(stamp)).toEqual({
      simcat_version: "0.0.0",
      view: "libraries",
      exported_at: manifest.exported_at,
      ...(manifest.complete_as_of === null ? {} : { complete_as_of: manifest.complete_as_of }),
      ...(manifest.history_complete_since === null ? {} : { history_complete_since: manifest.history_complete_since }),
      since: "2026-01-02T00:00:00.000000Z",
      owners: '["ann"]',
    });
  });

  test("a view that the database has lost is 78, as in other commands; an unknown one is 64 (fault 195)", async () => {
    const { url, pool } = await freshTestDatabase();
    await pool.query("DROP VIEW simcat_report.activity CASCADE");
    const lost = expect.stringContaining("the database lacks the view simcat_report.activity; run simcat check");
    expect(await simcat(["--out", temporaryDirectory()], url)).toMatchObject({ code: 78, stderr: lost });
    expect(await simcat(["activity", "--out", temporaryDirectory()], url)).toMatchObject({ code: 78, stderr: lost });
    expect(await simcat(["actvity", "--out", temporaryDirectory()], url)).toMatchObject({ code: 64 });
    expect(await simcat(["libraries", "--out", temporaryDirectory()], url)).toMatchObject({ code: 0 });
  });

  test("an empty organization gives valid files with all columns, but none of an earlier moment (fault 206)", async () => {
    const { url: empty } = await freshTestDatabase({ empty: true });
    const hint = expect.stringContaining("the database has no simcat schema yet; run: simcat migrate");
    expect(await simcat([], empty)).toMatchObject({ code: 78, stderr: hint });
    const { url } = await freshTestDatabase();
    const early =
      "--as-of 2026-01-02T00:00:00.000000Z is too early: no run has seen everything yet; export without --as-of";
    const stderr = expect.stringContaining(early);
    expect(await simcat(["--as-of", "2026-01-02"], url)).toMatchObject({ code: 64, stderr });
    const out = temporaryDirectory();
    for (const format of ["parquet", "csv", "jsonl"]) {
      const stdout = expect.stringContaining("the copy is not complete yet: no run has stored every library");
      expect(await simcat(["libraries", "--format", format, "--out", out], url)).toMatchObject({ code: 0, stdout });
    }
    expect(await duckdb(`SELECT count(*), count(owner) FROM '${join(out, "libraries.parquet")}'`)).toEqual([[0n, 0n]]);
    expect(readFileSync(join(out, "libraries.csv"), "utf8")).toMatch(/^owner,library_name,.*metadata.*\r\n$/);
    expect(readFileSync(join(out, "libraries.jsonl"), "utf8")).toBe("");
    expect(JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"))).toMatchObject({ complete_as_of: null });
  });

  test("--as-of exports the libraries and scenarios of that moment, and only those by default (fault 362)", async () => {
    const out = temporaryDirectory();
    const args = ["--format", "jsonl", "--out", out, "--as-of"];
    const { code, stdout } = await simcat([...args, "2026-01-09T23:59:59.999999Z"]);
    expect(code).toBe(0);
    // Not "complete as of" the last run, whose changes the files lack.
    expect(stdout).toContain("(2 views); as of 2026-01-09T23:59:59.999999Z, exported at 20");
    const descriptions = () =>
      Object.fromEntries(jsonRows(join(out, "libraries.jsonl")).map((row) => [row.library_name, row.description]));
    expect(descriptions()).toEqual({ forest: "old", lake: null, fire: null });
    expect(jsonRows(join(out, "scenarios.jsonl")).map(({ scenario_id }) => scenario_id)).toEqual([1]);
    expect(readdirSync(out).sort()).toEqual(["libraries.jsonl", "manifest.json", "scenarios.jsonl"]);

    expect((await simcat([...args, "2026-01-10"])).code).toBe(0);
    expect(descriptions()).toEqual({ forest: "new", lake: null, fire: null });
    // The copy knows nothing of this moment (fault 372).
    expect((await simcat([...args, "1ms"])).stdout).toContain("; complete as of ");
  });

  test.each([
    ["libraries", "2026-01-10", ["ann,forest"]],
    ["libraries --owner bob", "2026-01-01", ["bob,fire"]],
    ["libraries --owner bob --owner ann", "2026-01-01", ["ann,forest", "ann,lake", "bob,fire"]],
    ["libraries", "2026-01-10T00:00:00.000001Z", []],
    ["libraries", "2026-01-10T02:00+02:00", ["ann,forest"]],
    ["run_history", "2026-01-02", ["2,sync"]],
    ["changes", "2026-01-05T12:00:00", ["2026-01-10T00:00:00.000000Z,changed", "2026-01-10T00:00:00.000000Z,added"]],
  ])("exports the rows of %s --since %s, of all owners or the named ones", async (selected, since, expected) => {
    const out = temporaryDirectory();
    const [view = "", ...owners] = selected.split(" ");
    expect((await simcat([view, ...owners, "--format", "csv", "--since", since, "--out", out])).code).toBe(0);
    const rows = csvRows(join(out, `${view}.csv`)).map((line) => line.split(",").slice(0, 2).join(","));
    expect(rows.sort()).toEqual(expected.toSorted());
  });

  test("--since before the history began warns of each view that lacks rows, also in the manifest (fault 206)", async () => {
    const out = temporaryDirectory();
    const cut = (view: string) =>
      `${view} lacks rows of the time from --since 2025-12-31T00:00:00.000000Z on: it is complete since 2026-01-01T00:00:00.000000Z`;
    const args = ["libraries", "changes", "events", "daily_owners", "--format", "csv", "--out", out, "--since"];
    const early = await simcat([...args, "2025-12-31"]);
    expect(early).toMatchObject({ code: 0, stderr: `simcat: ${cut("changes")}\nsimcat: ${cut("events")}\n` });
    const warnings = () => JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")).warnings;
    expect(warnings()).toEqual([cut("changes"), cut("events")]);
    expect(await simcat([...args, "2026-01-01"])).toMatchObject({ code: 0, stderr: "" });
    expect(warnings()).toEqual([]);
  });
});

test.each([
  [
    ["librarys"],
    /^simcat: there is no view "librarys" \(did you mean libraries\?\); the views are .*changes, .*scenarios, /,
  ],
  [["libraries; DROP TABLE x"], /there is no view "libraries; DROP TABLE x"; the views are /],
  [["--format", "xlsx"], /'--format <FORMAT>' argument 'xlsx' is invalid\. Allowed choices are parquet, csv, jsonl/],
  [["changes", "--as-of", "2026-01-05"], /--as-of does not apply to changes: .*; it applies to libraries, scenarios; /],
  [["package_versions", "libraries", "--since", "2026-01-05"], /--since does not apply to package_versions: /],
  [
    ["run_history", "--owner", "ann"],
    /--owner does not apply to run_history: there is no column owner; it applies to .*libraries/,
  ],
  [["--as-of", "tomorrow"], /--as-of "tomorrow" is not a moment; write it as 2026-07-01, 2026-07-01T12:00:00Z, or 7d/],
  [
    ["--as-of", "2999-01-01"],
    /--as-of 2999-01-01T00:00:00\.000000Z is in the future: by the database's clock it is 20/,
  ],
  [
    ["--as-of", "2025-12-31"],
    /--as-of 2025-12-31T00:00:00\.000000Z is too early: the history is complete since 2026-01-01T00:00:00\.000000Z; choose that/,
  ],
  [["--since", "2999-01-01"], /--since 2999-01-01T00:00:00\.000000Z is in the future/],
  [["--owner", "anne"], /owner anne is neither stored nor recorded as listed \(did you mean ann\?\)/],
])("wrong arguments exit with 64, write nothing, and name the valid ones: %j", async (args, message) => {
  const out = join(temporaryDirectory(), "out");
  const { code, stdout, stderr } = await simcat([...args, "--out", out]);
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr).toMatch(message);
  expect(existsSync(out)).toBe(false);
});

describe("files appear under their names only when all are complete", () => {
  /** A directory with the export of yesterday. */
  function earlierExport(): string {
    const out = temporaryDirectory();
    for (const name of ["libraries.csv", "scenarios.csv", "manifest.json"]) writeFileSync(join(out, name), "yesterday");
    return out;
  }

  /** An export that has written one file and waits within the next one. */
  async function startBlocked(out: string): Promise<Running & { readonly unblock: () => Promise<unknown> }> {
    const waits = "CREATE OR REPLACE VIEW simcat_report.waits AS SELECT pg_advisory_xact_lock(1)::text AS waited";
    await database().query(waits);
    const blocker = await holdLocks(database(), "SELECT pg_advisory_xact_lock(1)");
    const unblock = () => blocker.query("ROLLBACK");
    onTestFinished(async () => {
      await unblock(); // Otherwise the session of a killed export keeps its locks.
      await database().query("DROP VIEW IF EXISTS simcat_report.waits");
    });
    const args = ["export", "run_history", "waits", "--format", "csv", "--out", out];
    const running = startCli(args, { DATABASE_URL: database().url });
    await untilSession(database().query, WAITS_FOR_LOCK);
    return { ...running, unblock };
  }

  const temporaryFiles = (out: string) => readdirSync(out).filter((name) => name.startsWith(".simcat-"));

  test("an export removes the files of one that was killed over a day ago, and no others (fault 137)", async () => {
    const out = temporaryDirectory();
    const killed = await startBlocked(out);
    killed.process.kill("SIGKILL");
    await killed.ended;
    const [left = ""] = temporaryFiles(out);
    const found = async (hours: number) => {
      const time = new Date(Date.now() - hours * 3_600_000);
      for (const name of [left, ".simcat-notes.tmp"]) utimesSync(join(out, name), time, time);
      expect((await simcat(["libraries", "--format", "csv", "--out", out])).code).toBe(0);
      return temporaryFiles(out);
    };
    writeFileSync(join(out, ".simcat-notes.tmp"), "");

    expect((await found(23)).sort()).toEqual([left, ".simcat-notes.tmp"].sort());
    expect(await found(25)).toEqual([".simcat-notes.tmp"]);
  });

  test("SIGTERM during an export ends it at once with 143 and removes its files", async () => {
    const out = earlierExport();
    const running = await startBlocked(out);
    expect(temporaryFiles(out)).toHaveLength(1);

    const askedAt = performance.now();
    running.process.kill("SIGTERM");

    expect((await running.ended).code).toBe(143);
    expect(performance.now() - askedAt).toBeLessThan(3_000);
    expect(readdirSync(out).sort()).toEqual(["libraries.csv", "manifest.json", "scenarios.csv"]);
    for (const name of readdirSync(out)) expect(readFileSync(join(out, name), "utf8")).toBe("yesterday");
  });

  test("a full disk ends it with 64, names the directory and the reason, and leaves what was there", async (context) => {
    const disk = temporaryDirectory();
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], { stdio: "ignore" });
    } catch {
      return context.skip("needs the right to mount a tmpfs: run it as root");
    }
    onTestFinished(() => void execFileSync("umount", ["-l", disk]));
    writeFileSync(join(disk, "libraries.csv"), "yesterday");
    const { code, stderr } = await simcat(["libraries", "data_quality", "--format", "csv", "--out", disk]);
    expect(code).toBe(64);
    expect(stderr).toContain(`simcat: the export cannot be written to ${disk}: ENOSPC: no space left on device`);
    expect(stderr).toContain("choose another directory with --out");
    expect(readdirSync(disk)).toEqual(["libraries.csv"]);
    expect(readFileSync(join(disk, "libraries.csv"), "utf8")).toBe("yesterday");
  });

  test("a place that a file or a directory takes is named, and no manifest is left", async () => {
    const out = earlierExport();
    rmSync(join(out, "scenarios.csv"));
    mkdirSync(join(out, "scenarios.csv"));
    const { code, stderr } = await simcat(["libraries", "scenarios", "--format", "csv", "--out", out]);
    expect(code).toBe(64);
    expect(stderr).toContain("EISDIR");
    expect(readdirSync(out).sort()).toEqual(["libraries.csv", "scenarios.csv"]);

    const below = join(out, "libraries.csv", "out");
    const named = expect.stringContaining(`the export cannot be written to ${below}: ENOTDIR`);
    expect(await simcat(["libraries", "--out", below])).toMatchObject({ code: 64, stderr: named });
  });

  test("a directory that /proc refuses is named: a recursive mkdir would never return (fault 316)", async () => {
    const ended = await runCli(["export", "libraries", "--out", "/proc/a/b"], { DATABASE_URL: database().url });
    const stderr = expect.stringContaining("the export cannot be written to /proc/a/b: ENOENT");
    expect(ended).toMatchObject({ code: 64, stderr });
  });

  test("a lost connection repeats the export from its start, and leaves no temporary file", async () => {
    const out = temporaryDirectory();
    const running = await startBlocked(out);
    await database().query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = 'simcat' AND wait_event_type = 'Lock'`,
    );
    await running.unblock();
    expect(await running.ended).toMatchObject({ code: 0 });
    expect(readdirSync(out).sort()).toEqual(["manifest.json", "run_history.csv", "waits.csv"]);
    expect(csvRows(join(out, "run_history.csv"))).toHaveLength(2);
  });
});

test("takes all locks before it writes, with patience, also as a reader, and has one snapshot (fault 156)", async () => {
  const fresh = await freshTestDatabase();
  await addRows(fresh, "libraries", [{ library_name: "forest" }]);
  const reader = await createRole(fresh, {
    grants: ["USAGE ON SCHEMA simcat_report", "SELECT ON ALL TABLES IN SCHEMA simcat_report"],
  });
  const out = temporaryDirectory();
  const writer = await holdLocks(fresh, "LOCK TABLE simcat.scenario_history IN ACCESS EXCLUSIVE MODE");
  const views = ["run_history", "scenario_versions", "libraries"];
  const running = simcat([...views, "--format", "csv", "--out", out], reader.url);
  await untilSession(fresh.query, WAITS_FOR_LOCK);
  expect(readdirSync(out)).toEqual([]);
  // One wait that is longer than the 5 s of other transactions.
  await untilSession(fresh.query, `${WAITS_FOR_LOCK} AND xact_start < clock_timestamp() - interval '6 s'`);
  await writer.query("UPDATE simcat.libraries SET library_name = 'renamed'");
  await writer.query("COMMIT");
  expect(await running).toMatchObject({ code: 0 });
  expect(csvRows(join(out, "libraries.csv")).map((line) => line.split(",")[1])).toEqual(["forest"]);
});

test("--safe-csv escapes cells that a spreadsheet would run, and no numbers (fault 165)", async () => {
  const fresh = await freshTestDatabase();
  await addRows(fresh, "libraries", [{ library_name: "forest" }]);
  const texts = ["=1+1", "+1", "-1", "@x", "\ttab", "\rreturn", "＝1", " =1", "plain", "a=1"];
  await addRows(
    fresh,
    "scenarios",
    texts.map((scenario_name, at) => ({ scenario_id: at + 1, scenario_name, parent_id: -5 - at })),
  );
  const out = temporaryDirectory();
  const args = ["scenarios", "--out", out];
  expect((await simcat([...args, "--format", "csv", "--safe-csv"], fresh.url)).code).toBe(0);
  const path = join(out, "scenarios.csv");
  expect(
    await duckdb(`SELECT scenario_name FROM read_csv('${path}', all_varchar = true) ORDER BY scenario_id::int`),
  ).toEqual(["'=1+1", "'+1", "'-1", "'@x", "'\ttab", "'\rreturn", "'＝1", " =1", "plain", "a=1"].map((text) => [text]));
  expect(readFileSync(path, "utf8")).toContain(",-5,");
  expect(JSON.parse(readFileSync(join(out, "manifest.json"), "utf8")).safe_csv).toBe(true);

  expect((await simcat([...args, "--format", "csv"], fresh.url)).code).toBe(0);
  expect(readFileSync(path, "utf8")).toContain(",=1+1,");
  const stderr = expect.stringContaining("--safe-csv needs --format csv");
  expect(await simcat([...args, "--safe-csv"], fresh.url)).toMatchObject({ code: 64, stderr });
});

test("rows of megabytes do not add up in memory", async () => {
  const { url, query } = await freshTestDatabase();
  await query(
    `INSERT INTO simcat.libraries (owner, library_name, description, first_seen_at, changed_at, run_id)
     SELECT 'ann', i::text, repeat(md5(i::text) || '🌲', 50000), now(), now(), 1 FROM generate_series(1, 40) AS i`,
  );
  const out = temporaryDirectory();
  const limited = { DATABASE_URL: url, NODE_OPTIONS: "--max-old-space-size=64" };
  expect(await runCli(["export", "libraries", "--out", out], limited)).toMatchObject({ code: 0 });
  const path = join(out, "libraries.parquet");
  expect(await duckdb(`SELECT count(DISTINCT description), min(length(description)) FROM '${path}'`)).toEqual([
    [40n, 1_650_000n],
  ]);
});
