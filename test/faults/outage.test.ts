import { expect, test } from "vitest";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { always, status } from "./answers.ts";
import { libraries } from "./removals.ts";
import { lastRun } from "./run-results.ts";

const ONE_ATTEMPT = { SIMCAT_MAX_RETRIES: "0", SIMCAT_CONCURRENCY: "2" };
const CONTENT = "metadata$|scenarios$";
const SERVER_ERROR = status(500);

/** Every content request, or that of one owner or library, fails in this way until the next script. */
function fail({ service }: Fixture, action: FaultAction, match: { owner?: string; library?: string } = {}): void {
  service.always({ ...match, pathPattern: CONTENT }, action);
}

function edit({ service }: Fixture, owner: string, name: string): void {
  service.change(owner, name, { lastModified: "2030-01-02 at 3:04 PM", description: "edited" });
}

/** The content requests, without those of this owner or library. */
const others = (made: Fixture, name: string) =>
  made
    .asked()
    .filter((path) => !path.includes(`/${name}/`) && !path.endsWith("/libs"))
    .map((path) => path.split("/").at(-1))
    .sort();

/** How many libraries have failed how often in a row. */
const failures = ({ lines }: Fixture) =>
  lines("SELECT failures, 'failures of', count(*) FROM simcat.library_sync GROUP BY 1 ORDER BY 1");

test("a run that can read no content ends with 69, every time and with few libraries (faults 145 and 184)", async () => {
  for (const [count, action] of [
    [1, { kind: "reset" }],
    [11, SERVER_ERROR],
    [1, status(404)],
    [2, status(404)],
  ] as const) {
    const made = await fixture(libraries("ann", 0, count));
    fail(made, action);

    for (const command of ["backfill", "sync", "sync"]) {
      const ended = await made.call([command], ONE_ATTEMPT);
      expect(ended.code).toBe(69);
      expect(await lastRun(made.query)).toMatchObject({
        status: "source_unavailable",
        libraries_listed: count,
        libraries_failed: count,
      });
      expect(ended.stdout).toContain("no library could be read, so the service is considered down");
      expect(ended.stdout).not.toContain("are stored");
    }
    expect(await failures(made)).toEqual([`1 failures of ${count}`]);

    made.service.script([]);
    expect((await made.call(["sync"])).code).toBe(0);
    expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: count });
  }
});

test("an outage ends each run after about twenty libraries, and the next run reads all (faults 145 and 184)", async () => {
  const made = await syncedFixture([library("zoe", "unchanged"), ...libraries("ann", 0, 45)]);
  for (let at = 0; at < 45; at += 1) edit(made, "ann", `lib ${at}`);
  fail(made, SERVER_ERROR);
  made.asked();

  for (let run = 1; run <= 4; run += 1) {
    const { code, stdout } = await made.call(["sync"], ONE_ATTEMPT);
    expect(code).toBe(69);
    expect(stdout).not.toContain("are stored");
    expect(made.asked().length).toBeLessThan(60);
  }
  expect((await lastRun(made.query)).status).toBe("source_unavailable");

  made.service.script([]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 45, libraries_changed: 45 });
});

test("one broken library is partial each time: a readable one shows that the service is up (fault 145)", async () => {
  const made = await syncedFixture([library("ann", "broken"), ...libraries("ann", 0, 3)]);
  edit(made, "ann", "broken");
  fail(made, SERVER_ERROR, { library: "broken" });
  made.asked();

  for (const selector of [[], [], ["--library", "ann/broken"]]) {
    const ended = await made.call(["sync", ...selector], ONE_ATTEMPT);
    expect(ended.code).toBe(2);
    expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_failed: 1 });
    expect(others(made, "broken")).toEqual(["metadata", "scenarios"]);
  }
  expect(await failures(made)).toEqual(["0 failures of 3", "3 failures of 1"]);

  fail(made, SERVER_ERROR);
  expect((await made.call(["backfill", "--library", "ann/broken"], ONE_ATTEMPT)).code).toBe(69);
});

test("a run that read nothing ends with 69 if no other library can be read whole (fault 145)", async () => {
  const made = await syncedFixture([library("ann", "broken"), library("ann", "good")]);
  edit(made, "ann", "broken");
  made.service.script([
    always({ library: "broken" }, SERVER_ERROR),
    always({ library: "good", operation: "scenarios" }, status(404)),
  ]);

  expect((await made.call(["sync"], ONE_ATTEMPT)).code).toBe(69);
});

test("answers that cannot be stored are no outage", async () => {
  const bad = await fixture(libraries("ann", 0, 3));
  bad.service.always({ operation: "scenarios" }, { kind: "alterItem", index: "all", set: { scenarioId: "one" } });
  expect((await bad.call(["sync"])).code).toBe(2);
  expect(await lastRun(bad.query)).toMatchObject({ status: "partial", libraries_failed: 3 });
});

test("twenty failures among successes, or of libraries that failed before, do not end a run (fault 17)", async () => {
  const mixed = Array.from({ length: 25 }, (_, at) => [library("bad", `lib ${at}`), library("good", `lib ${at}`)]);
  const made = await fixture([...mixed.flat(), library("good", "unchanged")]);
  fail(made, SERVER_ERROR, { owner: "bad" });

  const scattered = await made.call(["sync"], { ...ONE_ATTEMPT, SIMCAT_CONCURRENCY: "1" });
  expect(scattered.code).toBe(2);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 26, libraries_failed: 25 });
  made.asked();

  const again = await made.call(["sync"], ONE_ATTEMPT);
  expect(again.code).toBe(2);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_skipped: 26, libraries_failed: 25 });
  expect(others(made, "bad")).toEqual(["metadata", "scenarios"]);
});

test("a library that failed three times is tried less often, and its next try is shown (fault 150)", async () => {
  const made = await fixture([library("ann", "broken"), library("ann", "good")]);
  fail(made, status(404), { library: "broken" });
  const syncAgain = async () => {
    made.asked();
    const { code, stdout } = await made.call(["sync"], ONE_ATTEMPT);
    const isAsked = made.asked().some((path) => path.includes("/broken/"));
    const warns = stdout.includes("1 library that failed three times in a row or more was not tried");
    return { code, isAsked, warns };
  };
  const tried = { code: 2, isAsked: true, warns: false };
  const skipped = { code: 2, isAsked: false, warns: true };

  for (let run = 1; run <= 3; run += 1) expect(await syncAgain()).toEqual(tried);
  expect(await syncAgain()).toEqual(skipped);
  expect(await lastRun(made.query)).toEqual({ status: "partial", libraries_listed: 2, libraries_skipped: 2 });
  expect(await failures(made)).toEqual(["0 failures of 1", "3 failures of 1"]);
  const [broken] = await made.query<{ due: Date }>(
    "SELECT last_failed_at + interval '15 minutes' AS due FROM simcat.library_sync WHERE library_name = 'broken'",
  );
  const nextTry = broken?.due.toISOString();
  const printed = async (...args: string[]) => JSON.parse((await made.call([...args, "--json"])).stdout);
  const verdict = { next_run: "skip", reason: "backing off" };
  expect(await printed("explain", "ann/broken")).toMatchObject({ next_read_due_at: nextTry, verdict });
  const listed = { library: "broken", failures: 3, next_read_due_at: nextTry };
  expect((await printed("status")).failing).toMatchObject([listed]);

  await made.query(
    `UPDATE simcat.library_sync SET last_failed_at = last_failed_at - interval '61 minutes',
       bookmark_seen_at = bookmark_seen_at - interval '61 minutes'`,
  );
  made.service.script([]);
  expect(await syncAgain()).toEqual({ code: 0, isAsked: true, warns: false });
  expect(await failures(made)).toEqual(["0 failures of 2"]);
});
