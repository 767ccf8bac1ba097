import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { status } from "../../src/cli/status.ts";
import { readStatus } from "../../src/db/read/read-status.ts";
import { toStatusJson } from "../../src/output/status.ts";
import { widthOf } from "../../src/output/table.ts";
import { callCli, createContext, type Environment, runSync } from "../support/call-cli.ts";
import { freshTestDatabase, type TestDatabase } from "../support/database.ts";
import { fixture, requestsFor } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { openPool } from "../support/pool.ts";

async function jsonOf(environment: Environment, ...args: string[]) {
  const { code, stdout } = await callCli([...args, "--json"], environment);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}
const statusOf = (environment: Environment) => jsonOf(environment, "status");
const explained = (environment: Environment, name: string) => jsonOf(environment, "explain", name);

/** A run that read a library and began the given number of minutes ago. */
function insertRun({ query }: TestDatabase, status: string, minutes: number) {
  return query(
    `INSERT INTO simcat.sync_runs (kind, trigger, libraries_read, listing_complete, status, started_at, finished_at, version)
     VALUES ('sync', 'cli', 1, true, $1, now() - $2 * interval '1 minute',
       CASE WHEN $1 <> 'running' THEN now() - $2 * interval '1 minute' + interval '3 s' END, '0')`,
    [status, minutes],
  );
}

describe("status", () => {
  test("prints the state after a real run", async () => {
    const { environment, service, query } = await fixture([
      library("ann", "Good", { scenarios: [1, 2] }),
      library("ann", "Gone", { scenarios: [1] }),
      library("bo", "Bad item", { scenarios: [1, scenario(2)] }),
    ]);
    service.script([
      { match: { operation: "metadata", library: "Gone" }, times: "always", action: { kind: "status", status: 404 } },
      {
        match: { operation: "scenarios", library: "Bad item" },
        times: "always",
        action: { kind: "alterItem", index: 1, set: { isResult: "no" } },
      },
    ]);
    expect(await runSync(environment)).toBe(2);
    // Each number is another one.
    await query("UPDATE simcat.sync_runs SET libraries_skipped = 5, libraries_changed = 6, libraries_removed = 7");
    const told = await statusOf(environment);
    expect(told).toMatchObject({
      last_good_run: { id: 1, status: "partial", dead: false, libraries_read: 2, libraries_failed: 1 },
      lease_holder: null,
      libraries: { live: 2, settled: 1, unsettled: 1, removed: 0, never_stored: 1, failing: 1 },
      scenarios: { live: 3 },
      failing: [{ owner: "ann", library: "Gone", failures: 1, last_success_at: null }],
      open_rejects: 1,
      open_reject_groups: 1,
      rejects: [{ owner: "bo", library: "Bad item", kind: "scenario", code: "wrong_type", count: 1 }],
      next: "simcat explain ann/Gone has the details and says when the library is read again",
    });
    const [run] = await query(
      `SELECT id::int, kind, scope, status, started_at, finished_at, libraries_read, libraries_skipped, libraries_changed,
         libraries_failed, libraries_removed, error FROM simcat.sync_runs`,
    );
    const [failing] = await query(
      "SELECT failures, last_failed_at, last_success_at, last_error FROM simcat.library_sync WHERE failures > 0",
    );
    const [libraries] = await query("SELECT min(content_read_at) AS oldest_content_read_at FROM simcat.library_sync");
    const [reject] = await query("SELECT first_seen_at FROM simcat.rejects");
    const stored = { last_good_run: run, runs: [run], libraries, failing: [failing], rejects: [reject] };
    expect(told).toMatchObject(JSON.parse(JSON.stringify(stored)));
    // A removed library's scenarios and dates are not counted.
    await query("UPDATE simcat.libraries SET removed_at = now() WHERE library_name = 'Good'");
    expect(await statusOf(environment)).toMatchObject({
      libraries: { live: 1, settled: 0, unsettled: 1, removed: 1 },
      scenarios: { live: 1 },
    });
  });

  /** Runs `status --watch` on a terminal that has these widths at one screen after another. Returns the screens. */
  async function watch({ url }: TestDatabase, rows: number, widths: readonly number[]): Promise<string[]> {
    const stop = new AbortController();
    const screens: string[] = [];
    const print = (text: string) => {
      if (screens.push(text) === widths.length) stop.abort(new Error("enough"));
    };
    const terminal = {
      ...{ isOut: true, isErr: false, rows },
      get columns() {
        return widths[screens.length] ?? 0;
      },
    };
    const context = { ...createContext({ DATABASE_URL: url }, stop.signal), print, terminal };
    expect(await runProgram(context, ["status", "--watch"])).toBe(0);
    return screens;
  }

  test("--watch redraws a terminal at its width until the first stop signal, and ends with 64 elsewhere (fault 234)", async () => {
    const database = await freshTestDatabase();
    await insertRun(database, "ok", 3);
    const screens = await watch(database, 6, [80, 40]);
    expect(screens).toEqual(Array(2).fill(expect.stringContaining("\x1b[H\x1b[Jlast good run  run 1")));
    expect(screens.map((screen) => screen.split("\n").slice(2))).toEqual([
      [expect.any(String), "…", "next: nothing; simcat start keeps the copy up to date"],
      ["…", "next: nothing; simcat start keeps the", "  copy up to date"],
    ]);
    const elsewhere = createContext({ DATABASE_URL: database.url });
    await expect(status(elsewhere, { json: false, watch: true })).rejects.toMatchObject({ exitCode: 64 });
  });

  test("--watch counts the rows of a long command and fits a low window (fault 234)", async () => {
    const database = await freshTestDatabase();
    for (const _ of [1, 2, 3]) await insertRun(database, "partial", 3);
    await database.query(`INSERT INTO simcat.library_sync (owner, library_name, failures, last_failed_at, last_error)
      VALUES ('ann', '${"x".repeat(200)}', 1, now(), 'timeout: …')`);
    const rowsOf = async (rows: number) => {
      const [screen = ""] = await watch(database, rows, [80]);
      const lines = stripVTControlCharacters(screen).split("\n");
      expect(lines.at(-1)).toBe("  has the details and says when the library is read again");
      return lines.map((line) => Math.max(1, Math.ceil(widthOf(line) / 80))).reduce((sum, height) => sum + height);
    };
    expect(await rowsOf(40)).toBe(20);
    expect(await rowsOf(16)).toBe(15);
    // The advice takes five.
    expect(await rowsOf(5)).toBe(6);
  });

  test("distinguishes a live run from a dead one by the lease, whose counts are unknown (faults 164, 307)", async () => {
    const database = await freshTestDatabase();
    const environment = { DATABASE_URL: database.url };
    await insertRun(database, "running", 2);
    expect(await statusOf(environment)).toMatchObject({
      lease_holder: null,
      runs: [{ status: "running", dead: true }],
    });
    await database.query("INSERT INTO simcat.leases VALUES ('sync', 'host:42', 1, now() + interval '20 s')");
    expect(await statusOf(environment)).toMatchObject({ lease_holder: "host:42", runs: [{ dead: false }] });
    await database.query("UPDATE simcat.leases SET expires_at = '-infinity'");
    const unknown = { libraries_skipped: null, libraries_changed: null, libraries_removed: null };
    const dead = { dead: true, libraries_read: null, libraries_failed: null, ...unknown };
    expect(await statusOf(environment)).toMatchObject({ lease_holder: null, runs: [dead] });
    await database.query("UPDATE simcat.sync_runs SET status = 'abandoned', finished_at = started_at - interval '1 h'");
    const abandoned = { duration_ms: 0, libraries_read: 1, libraries_failed: 0, ...unknown };
    expect((await statusOf(environment)).runs).toMatchObject([abandoned]);
  });

  test("lists ten runs, twenty failing libraries and twenty kinds of reject, and counts the rest", async () => {
    const database = await freshTestDatabase();
    for (let minutes = 11; minutes > 0; minutes--) await insertRun(database, "ok", minutes);
    await database.query(
      `INSERT INTO simcat.library_sync (owner, library_name, failures, last_error, last_failed_at, last_success_at)
       SELECT 'ann', 'Lib ' || n, 1, 'timeout', now(), now() - n * interval '1 hour' FROM generate_series(1, 21) AS n`,
    );
    await database.query(
      `INSERT INTO simcat.rejects (run_id, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at)
       SELECT 1, 'listing', 'code_' || n % 21, '', '', '', n, now() - n * interval '1 hour', now() FROM generate_series(1, 43) AS n`,
    );
    const result = await statusOf({ DATABASE_URL: database.url });
    expect(result.runs.map((run: { id: number }) => run.id)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    expect(result.failing).toHaveLength(20);
    expect(result.failing[0]).toMatchObject({ library: "Lib 21" });
    expect(result.libraries).toMatchObject({ failing: 21, never_stored: 21 });
    expect(result.rejects).toHaveLength(20);
    expect(result.rejects[0]).toMatchObject({ owner: null, library: null, code: "code_1", count: 3 });
    expect(result).toMatchObject({ open_rejects: 43, open_reject_groups: 21 });
  });
});

describe("explain", () => {
  test("decides by the last listing only, and the next run agrees; prints failures, rejects and history", async () => {
    const { environment, service, asked, query } = await fixture([
      library("ann", "Lib", { scenarios: [1, 2] }),
      library("ann", "Q1/Q2 50% done", { scenarios: [1, 2, 3] }),
    ]);
    service.once({ operation: "metadata", library: "Lib" }, { kind: "status", status: 404 });
    expect(await runSync(environment)).toBe(2);
    expect(await explained(environment, "ann/Lib")).toMatchObject({
      verdict: { next_run: "read", reason: "never read" },
    });
    const other = "ann/Q1%2FQ2 50%25 done";
    expect(await explained(environment, other)).toMatchObject({
      owner: "ann",
      library: "Q1/Q2 50% done",
      verdict: { next_run: "skip", reason: "unchanged" },
      last_good_run: { id: 1 },
      listed_text: "2023-09-11 at 2:56 PM",
      bookmark: "2023-09-11 at 2:56 PM",
      settled: true,
      reread_reason: null,
      last_modified: "2023-09-11 at 2:56 PM",
      removed_at: null,
      live_scenarios: 3,
      library_versions: 0,
      scenario_versions: 0,
      open_rejects: 0,
    });
    expect((await callCli(["explain", other], environment)).stdout).toMatch(
      /^ann\/Q1%2FQ2 50%25 done\nIt will be skipped: .*; next full read due \d{4}-.* \(in \d d\)\.\n/,
    );
    asked();
    expect(await runSync(environment)).toBe(0);
    expect(asked().toSorted()).toEqual(requestsFor("ann/Lib"));

    service.change("ann", "Lib", { lastModified: "2023-09-12 at 2:56 PM" });
    service.always({ operation: "scenarios" }, { kind: "alterItem", index: 1, set: { isResult: "no" } });
    expect(await runSync(environment)).toBe(2);
    const rejects = await query(
      `UPDATE simcat.rejects SET first_seen_at = first_seen_at - interval '1 hour'
       WHERE library_name = 'Lib' RETURNING reason, first_seen_at, last_seen_at`,
    );
    const rejected = await explained(environment, "ann/Lib");
    expect(rejected).toMatchObject({
      verdict: { next_run: "read", reason: "owes a read: rejects" },
      listed_text: "2023-09-12 at 2:56 PM",
      bookmark: "2023-09-11 at 2:56 PM",
      settled: false,
      next_read_due_at: null,
      reread_reason: "rejects",
      live_scenarios: 2,
      library_versions: 1,
      open_rejects: 1,
      resolved_rejects: 0,
      stored: true,
      rejects: [{ kind: "scenario", code: "wrong_type", path: "isResult" }],
    });
    const [row] = await query(
      `SELECT content_read_at, suspect_reads, last_error, last_failed_at, last_success_at, l.last_modified, first_seen_at, changed_at
       FROM simcat.library_sync JOIN simcat.libraries AS l USING (owner, library_name) WHERE library_name = 'Lib'`,
    );
    expect(rejected).toMatchObject(JSON.parse(JSON.stringify({ ...row, rejects })));
    service.always({ operation: "metadata", library: "Lib" }, { kind: "status", status: 422 });
    expect(await runSync(environment)).toBe(2);
    expect(await explained(environment, "ann/Lib")).toMatchObject({
      reread_reason: "failure",
      failures: 1,
      last_error: expect.stringContaining("422"),
    });
  });

  test("explains a library that has nothing but rejects", async () => {
    const { environment, service } = await fixture([library("ann", "Lib"), library("bo", "Lib")]);
    service.always({ operation: "listing" }, { kind: "alterItem", index: 1, set: { uploadUser: ".." } });
    expect(await runSync(environment)).toBe(2);
    expect(await explained(environment, "../Lib")).toMatchObject({
      verdict: { next_run: "none", reason: "rejected" },
      stored: false,
      open_rejects: 1,
      rejects: [{ kind: "listing", code: "unaddressable", path: "uploadUser" }],
    });
  });
});

test.each(["tables", "views"] as const)("status finds in the %s that a cache answers (fault 396)", async (source) => {
  const made = await fixture([library("ann", "Lake", { scenarios: [1] })]);
  await made.call(["sync"]);
  const pool = await openPool({ url: made.environment.DATABASE_URL ?? "" });
  const nextAfter = async (change: string) => {
    await made.query(change);
    return toStatusJson(await readStatus(pool, source, new AbortController().signal)).next;
  };
  const listing = (asOf: string, complete: boolean) =>
    `UPDATE simcat.sync_runs SET listing_as_of = ${asOf}, listing_complete = ${complete}`;
  expect(await nextAfter(listing("now() - interval '4 days'", true))).toMatch(
    /^no run has seen everything since .*\(4 d ago\)/,
  );
  expect(await nextAfter(listing("NULL", false))).toMatch(/^no run has seen everything yet/);
  expect(await nextAfter(listing("started_at", true))).toMatch(/^nothing;/);
  const content = (asOf: string) =>
    `UPDATE simcat.library_sync SET bookmark_seen_at = now(), suspect_reads = 1, content_as_of = ${asOf}`;
  expect(await nextAfter(content("now() - interval '4 days'"))).toMatch(
    /^a cache answers requests for content, as of .*\(4 d ago\)/,
  );
  expect(await nextAfter(content("'-infinity'"))).toMatch(/^a cache answers requests for content, of unknown age/);
});
