import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** Runs the command, which must succeed. Returns its output and the page. */
async function report({ call }: Fixture, ...more: readonly string[]) {
  const out = join(temporaryDirectory(), "page.html");
  const { code, stdout } = await call(["report", "--out", out, ...more]);
  expect(code).toBe(0);
  return { out, stdout, page: readFileSync(out, "utf8") };
}

const NOT_FOUND = { match: { operation: "metadata" }, action: { kind: "status", status: 404 } } as const;

const HOSTILE = "<img src=x onerror=alert(1)>";
const SMALL = [
  library("ann", HOSTILE, {
    scenarios: [scenario(1, { lastModified: "2023-09-12 at 9:00 AM" }), scenario(2, { parentId: 1 }), 3],
    fileSize: "3 MB",
  }),
  library("ann", "Water", { packageVersion: "4.2.0", fileSize: "1 MB" }),
  library("bob", "Fire", { scenarios: [1], fileSize: "huge" }),
];

describe("simcat report", () => {
  test("names the service's host, but not its path or the key, and the database; or has the title of --title", async () => {
    const made = await syncedFixture(SMALL);
    const { host } = new URL(made.service.url);
    const name = new URL(made.database.url).pathname.slice(1);
    expect((await report(made)).page).toContain(`<h1>Organization at ${host}, database <bdi>${name}</bdi></h1>`);

    const { page } = await report(made, "--title", "Forests & <b>lakes</b>");
    expect(page).toMatch(/<title>Forests &amp; &lt;b&gt;lakes&lt;\/b&gt;: simcat report of .*<\/title>/);
    expect(page).toMatch(/<h1>[^\n]*Forests &amp; &lt;b&gt;lakes&lt;\/b&gt;[^\n]*<\/h1>/);
    expect(page).not.toContain(", database ");
  });

  test("names libraries of one name under two owners once each", async () => {
    const { page } = await report(await syncedFixture([library("ann", "lake"), library("bob", "lake")]));
    expect(page).toContain("2 libraries have the same name as a library of another owner");
    expect(page).not.toContain("library_name");
  });

  test("writes a page of a small organization, and prints its path, size and findings", async () => {
    const { call, database } = await syncedFixture(SMALL);
    const out = join(temporaryDirectory(), "page.html");
    writeFileSync(out, "the page of yesterday");

    const onlyDatabase = { SIMCAT_BASE_URL: "", SIMCAT_API_KEY: "" };
    const { code, stdout, stderr } = await call(["report", "--out", out], onlyDatabase);

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const page = readFileSync(out, "utf8");
    const [first, ...findings] = stdout.trimEnd().split("\n");
    expect(first).toBe(`report: ${out} (${(Buffer.byteLength(page) / 1024).toFixed(1)} KB)`);
    // The dates of the organization are fixed, so they grow older.
    const lasting = findings.map((line) => line.replace(/[\d,]+ days or/, "N days or"));
    expect(lasting.map((line) => line.replace(/\d+ [A-Z][a-z]+ \d{4}(, \d+:\d+)?/, "DATE"))).toEqual([
      "  1 problem needs attention",
      "  Nothing changed since DATE",
      "  Growth is recorded since DATE",
      "  0 of 3 libraries are active: work in the last 30 days",
      "  Half of the libraries have had no work for N days or longer; 3 (100 %) are stale: over 90 days",
      "  ann holds 100 % of the 4.0 MB of 2 owners",
      "  1 of 3 libraries does not use the newest version of its package in use",
      "  2 of 3 parents (67 %) have no results",
      "  The only run of the last 7 days succeeded",
    ]);
    expect(page.match(/<h2>/g)).toHaveLength(9);
    expect(page).toContain("1 size is in a format that simcat does not know");
    expect(page).toContain("1 parent was edited after the latest result: see the view simcat_report.stale_results.");
    expect(page).toMatch(
      /The history is complete since <time [^>]*>[^<]*<\/time>; earlier changes, such as those of the initial load/,
    );
    expect(page).toContain("The first snapshot: 3 libraries, 3 parents, 1 result, 4.0 MB.");
    expect(page).not.toContain("<img");
    expect(readdirSync(join(out, ".."))).toEqual(["page.html"]);
    expect(page).not.toContain(new URL(database.url).password || "no password");
  });

  test("reports changes since the initial load, of one owner, and as JSON (fault 371)", async () => {
    const made = await syncedFixture(SMALL);
    made.service.change("ann", "Water", { description: "new", lastModified: "2026-11-20 at 9:00 AM" });
    await made.call(["sync"]);
    const { out, stdout, page } = await report(made, "--json", "--owner", "ann", "--since", "36h");
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({ file: out, bytes: Buffer.byteLength(page), owners: ["ann"] });
    expect(told.findings).toMatchObject({
      changes: expect.stringMatching(/^1 library changed since \d+ \w+ \d{4}, \d\d:\d\d; no scenarios$/),
      storage: "ann holds all 4.0 MB",
      parents: "1 of 2 parents (50 %) has no results",
      runs: "Both runs of the last 36 hours succeeded",
    });
    expect(page).toContain("<bdi>ann</bdi> (the runs, and how complete the copy is, are those of all owners).");
  });

  test("accepts an empty database, and ends with 64 for an unknown owner or an invalid duration", async () => {
    const made = await fixture([]);
    const { out, stdout, page } = await report(made);
    const lines = ["  1 problem needs attention", "  Nothing has been read yet"];
    expect(stdout.trimEnd().split("\n").slice(1)).toEqual(lines);
    for (const text of ["No run yet", "run simcat check, then simcat backfill"]) expect(page).toContain(text);
    expect(page).not.toContain("<figure");
    expect((await made.call(["report", "--out", out, "--owner", "nobody"])).code).toBe(64);
    const stderr = expect.stringContaining('--since \\"a week\\" is not a duration; write it as 7d, 36h or 90m');
    expect(await made.call(["report", "--since", "a week"])).toMatchObject({ code: 64, stderr });
  });

  test("of an organization whose libraries all fail has one item for each reason, and does not call it empty (fault 99)", async () => {
    const names = ["a", "b", "c", "d", "e", "f", "g", "h (1)"];
    const made = await fixture(
      names.map((name) => library("dan", name)),
      { faults: [{ ...NOT_FOUND, times: "always" }] },
    );
    const name = new URL(made.database.url).pathname.slice(1);
    await made.query(`ALTER DATABASE ${name} SET standard_conforming_strings = off`);
    expect((await made.call(["backfill"])).code).toBe(69);
    const { stdout, page } = await report(made);
    expect(stdout).toContain("  No library is stored: 8 listed libraries fail\n");
    const [, section = ""] = /id="attention"(.*?)<.section>/s.exec(page) ?? [];
    const text = section.replace(/<[^>]*>/g, "");
    expect(text).toContain("8 libraries: not_found: GET … answered 404 (asked …; it said ");
    expect(text.match(/failed once/g)).toHaveLength(8);
  });

  test("counts what went with a removed library, and what is active", async () => {
    const today = new Date().toISOString();
    const made = await syncedFixture([
      ...SMALL,
      library("cat", "Rain", { lastModified: today, scenarios: [1, 2, scenario(3, { parentId: 1 })] }),
      ...["a", "b", "c", "d"].map((name) => library("dan", name)),
    ]);
    made.service.remove("cat", "Rain");
    const before = await report(made);
    await made.call(["sync"]);
    const after = await report(made);
    expect(before.stdout).toContain("1 of 8 libraries is active: work in the last 30 days");
    expect(after.stdout).toContain("0 of 7 libraries are active: work in the last 30 days");
    expect(after.stdout).toMatch(/1 library changed since .*; scenarios: 3 removed/);
  });

  test("does not count libraries as new that the first backfill listed and could not read", async () => {
    const names = ["a", "b", "c", "d"];
    const made = await fixture(
      names.map((name) => library("dan", name, { scenarios: [1, 2] })),
      { faults: [{ ...NOT_FOUND, times: 2 }] },
    );
    await made.call(["backfill"]);
    await made.query(`UPDATE simcat.owner_days SET day = day - 2; UPDATE simcat.library_days SET from_day = from_day - 2;
      UPDATE simcat.snapshot_days SET day = day - 2`);
    await made.call(["sync"]);
    const { stdout, page } = await report(made);
    expect(stdout).toMatch(/ {2}As many libraries and scenarios as on /);
    expect(stdout).toMatch(/ {2}Nothing changed since /);
    expect(page).toMatch(/2 libraries were listed from the start and first read after /);
    expect(page).toMatch(/<dt>stored<.dt><dd>960\.0 KB<small>±0 B since /);
    await made.query(`DELETE FROM simcat.events; INSERT INTO simcat.prunes (pruned_at, cutoff, library_versions, scenario_versions, events)
      VALUES (now(), now(), 0, 0, true)`);
    expect((await report(made)).stdout).toMatch(/ {2}Growth is recorded since /);
  });

  test("counts the growth of an owner from the first snapshot on, although it does not have this owner (fault 360)", async () => {
    const made = await syncedFixture([library("ann", "Lake", { scenarios: [1] })]);
    await made.query("UPDATE simcat.owner_days SET day = day - 2; UPDATE simcat.snapshot_days SET day = day - 2");
    made.service.put(library("bob", "Fire", { scenarios: [1, 2] }), library("bob", "Water"));
    await made.call(["sync"]);
    const { stdout, page } = await report(made, "--owner", "bob");
    expect(stdout).toMatch(/ {2}2 more libraries and 2 more scenarios since /);
    expect(page).toMatch(/<dt>libraries<.dt><dd>2<small>of 1 owner<br>\+2 since /);
    expect((await report(made, "--owner", "ann")).stdout).toMatch(/ {2}As many libraries and scenarios as on /);
  });

  test("says until when a copy is known that no run looked at for twenty days", async () => {
    const made = await fixture(SMALL);
    // Five days apart, and the last one 20 days ago.
    for (const [command, days] of [
      ["backfill", 5],
      ["sync", 20],
    ] as const) {
      await made.call([command]);
      await made.query(`UPDATE simcat.sync_runs SET started_at = started_at - interval '${days} days',
        finished_at = finished_at - interval '${days} days', listing_as_of = listing_as_of - interval '${days} days'`);
    }
    await made.query(`UPDATE simcat.library_sync SET content_read_at = content_read_at - interval '20 days',
      last_success_at = last_success_at - interval '20 days'`);
    expect((await report(made)).stdout).toMatch(/ {2}Nothing is known since .*: the copy is complete until \d+ [A-Z]/);
    const { stdout, page } = await report(made, "--since", "30d");
    expect(stdout).toMatch(/ {2}Nothing changed since .* \(complete until \d+ [A-Z]/);
    expect(page.match(/class="shade"/g)?.length).toBeGreaterThan(30);
  });

  test("does not know what came after the listing of a cache, also if a library is behind (fault 396)", async () => {
    const made = await fixture(SMALL);
    await made.call(["backfill"]);
    await made.query(`UPDATE simcat.sync_runs SET listing_as_of = now() - interval '4 days', started_at = now() - interval '9 days', finished_at = now() - interval '9 days';
      UPDATE simcat.library_days SET from_day = from_day - 9; UPDATE simcat.owner_days SET day = day - 9; UPDATE simcat.snapshot_days SET day = day - 9`);
    made.service.script([{ match: { operation: "listing" }, action: { kind: "headers", set: { age: "345600" } } }]);
    await made.call(["sync"]);
    await made.query("UPDATE simcat.library_sync SET failures = 2, reread_reason = 'failure' WHERE owner = 'bob'");
    const { stdout, page } = await report(made);
    expect(stdout).toMatch(/ {2}Nothing changed since .* \(complete until \d+ [A-Z]/);
    const changes = page.slice(page.indexOf('id="changes"'), page.indexOf('id="growth"'));
    expect(changes.match(/class="shade"/g)?.length).toBeGreaterThan(4);
    expect((await made.call(["status"])).stdout).toMatch(/next: simcat explain bob/);
  });

  test("names the last run of all libraries after many runs of some of them (fault 402)", async () => {
    const made = await syncedFixture(SMALL);
    await made.query(`UPDATE simcat.sync_runs SET status = 'unauthorized', finished_at = now();
      INSERT INTO simcat.sync_runs (kind, trigger, status, version, finished_at, scope)
      SELECT 'sync', 'cli', 'ok', '1', now(), '{"owners": ["ann"], "libraries": []}' FROM generate_series(1, 50)`);
    expect((await report(made)).page).toContain("The last run of all libraries ended as unauthorized");
    expect((await made.call(["status"])).stdout).toMatch(/next: (?!nothing)/);
  });

  test("counts growth only from the start of the history on (fault 402)", async () => {
    const made = await syncedFixture(SMALL);
    await made.query(`UPDATE simcat.sync_runs SET listing_complete = false, status = 'partial';
      UPDATE simcat.owner_days SET day = day - 2; UPDATE simcat.snapshot_days SET day = day - 2`);
    await made.call(["sync"]);
    expect((await report(made)).stdout).toMatch(/ {2}Growth is recorded since /);
  });

  test("draws days instead of hours of which hardly any had a run (fault 281)", async () => {
    const made = await syncedFixture(SMALL);
    await made.query(`UPDATE simcat.sync_runs SET started_at = started_at - interval '50 hours',
      finished_at = finished_at - interval '50 hours'`);
    made.service.change("ann", "Water", { description: "new", lastModified: "2026-11-20 at 9:00 AM" });
    await made.call(["sync"]);
    expect((await report(made, "--since", "60h")).page).toContain("By the day (UTC) in which a run of simcat found");
    await made.query(
      "INSERT INTO simcat.sync_runs (kind, trigger, status, version) SELECT 'sync', 'cli', 'ok', '1' FROM generate_series(1, 30)",
    );
    expect((await report(made, "--since", "60h")).page).toContain("By the hour (UTC) in which a run of simcat found");
  });

  test("counts a run that began before the period and has not ended", async () => {
    const made = await syncedFixture(SMALL);
    await made.query(
      "UPDATE simcat.sync_runs SET status = 'running', started_at = now() - interval '9 days', finished_at = NULL",
    );
    const { stdout, page } = await report(made);
    expect(stdout).toContain("  No run ended in the last 7 days; 1 run has not ended\n");
    expect(page).toMatch(/One run, at .* \(UTC\), took 216 h .*so far\./);
  });

  test("shows libraries that appear unchanged under another owner as moved, counts others (fault 392)", async () => {
    const NEW_OWNER = "<b>own9";
    const others = ["a", "b", "c", "d", "e", "f"].map((name) => library("dan", name));
    const old = ["Fire", "Water", "Edited"].map((name) => library("own0", name, { scenarios: [1, 2] }));
    const made = await syncedFixture([...others, ...old]);
    const { call, service } = made;
    for (const name of ["Fire", "Water"]) {
      service.remove("own0", name);
      service.put(library(NEW_OWNER, name, { scenarios: [1, 2] }));
    }
    // Neither one with other content nor one that stays has moved.
    service.remove("own0", "Edited");
    service.put(library(NEW_OWNER, "Edited", { scenarios: [1] }), library("eve", "e"));
    await call(["sync", "--allow-removals"]);
    const moves = `SELECT run_id, library_name, old_owner, new_owner, scenario_count, file_size_bytes, seen_at IS NOT NULL
      FROM simcat_report.library_moves ORDER BY 2`;
    expect(await made.lines(moves)).toEqual([
      "2 Fire own0 <b>own9 2 245760 true",
      "2 Water own0 <b>own9 2 245760 true",
    ]);
    const { stdout, page } = await report(made);
    expect(page).toContain("from own0 to &lt;b&gt;own9");
    expect(stdout).toMatch(
      /3 libraries changed since .*; scenarios: 1 added, 2 removed; 2 libraries moved from own0 to <b>own9\n/,
    );
    expect((await report(made, "--owner", NEW_OWNER)).stdout).toMatch(
      /1 library changed since .*; scenarios: 1 added; 2 libraries moved from own0 to <b>own9\n/,
    );

    service.put(library("own0", "New"));
    await call(["sync"]);
    expect((await report(made)).stdout).toMatch(
      /4 libraries changed since .*; 2 libraries moved from own0 to <b>own9\n/,
    );
  });
});
