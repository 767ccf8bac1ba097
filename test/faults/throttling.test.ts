import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import type { RecordedRequest } from "../support/mock/recorder.ts";
import { always, retryAfter, status } from "./answers.ts";
import { libraries } from "./removals.ts";
import { lastRun, libraryLogLines, logLines } from "./run-results.ts";

const LIBRARIES = libraries("alice", 0, 8);

/** The longest gap between two requests, and the number of requests before it. */
function widestGap(requests: readonly RecordedRequest[]) {
  const gaps = requests
    .slice(1)
    .map((one, index) => ({ ms: one.at - (requests[index]?.at ?? 0), startsAt: one.at, before: index + 1 }));
  return gaps.reduce((widest, gap) => (gap.ms > widest.ms ? gap : widest), { ms: 0, startsAt: 0, before: 0 });
}

test("after 429 with Retry-After: 2 no request leaves within two seconds (fault 18)", async () => {
  const made = await fixture(LIBRARIES);
  const match = { pathPattern: "metadata$|scenarios$" };
  made.service.script([{ match, action: retryAfter(429, "2") }, always(match, { kind: "delay", ms: 400 })]);

  const ended = await made.call(["sync"]);

  const content = made.service.requests.filter(({ path }) => path !== "/libs");
  const refusedAt = content.find(({ fault }) => fault !== "delay")?.at ?? 0;
  const gap = widestGap(content);
  expect(ended.code).toBe(0);
  expect(gap.startsAt - refusedAt).toBeGreaterThan(2_000);
  expect(gap.startsAt - refusedAt).toBeLessThan(10_000);
  // The number of requests that the slow start has in flight.
  expect(gap.before).toBeLessThanOrEqual(5);
  expect(content).toHaveLength(17);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 8, retries: 1 });
  expect(logLines(ended).filter(({ code }) => code === "throttled")).toMatchObject([{ wait_ms: 2_000 }]);
});

test("a library that always answers 503 with a Retry-After delays no other library (fault 18)", async () => {
  const made = await fixture(libraries("alice", 0, 200));
  made.service.always({ library: "lib 0", operation: "metadata" }, retryAfter(503, "2"));

  const ended = await made.call(["sync"]);

  const refused = made.service.requests.filter(({ fault }) => fault === "status").map(({ at }) => at);
  const others = made.service.requests.filter(({ path }) => path.includes("/lib%20") && !path.includes("/lib%200/"));
  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(["alice/lib 0 server_error"]);
  expect(others).toHaveLength(398);
  // No two requests of the other libraries are two seconds apart.
  expect(widestGap(others).ms).toBeLessThan(2_000);
  expect(refused.length).toBeLessThan(10);
});

test("libraries that failed last time and ask for a wait again pause only themselves (fault 18)", async () => {
  const made = await syncedFixture(LIBRARIES);
  await made.query(
    `UPDATE simcat.library_sync SET failures = 1, last_failed_at = now(), reread_reason = 'failure'
     WHERE library_name IN ('lib 0', 'lib 1')`,
  );
  made.service.always({ pathPattern: "lib%20[01]/metadata$" }, retryAfter(503, "1"));

  const ended = await made.call(["backfill"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(["alice/lib 0 server_error", "alice/lib 1 server_error"]);
  expect(logLines(ended).filter(({ code, library }) => code === "throttled" && library === undefined)).toEqual([]);
  expect(ended.stdout).not.toContain("SIMCAT_MAX_RPS");
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 6, libraries_failed: 2 });
});

test("rate limiting fails no library, and the summary names SIMCAT_MAX_RPS (fault 22)", async () => {
  const made = await fixture(libraries("alice", 0, 80));
  made.service.always({}, { kind: "throttle", perSecond: 100 });

  const ended = await made.call(["sync"]);

  const requests = made.asked().length;
  const throttled = requests - 161;
  expect(ended.code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 80 });
  expect(throttled).toBeLessThan(80);
  expect(ended.stdout.includes("SIMCAT_MAX_RPS")).toBe(throttled / requests > 0.05);
});

test("429 without a header backs off without using up attempts while others succeed (fault 19)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.script([
    { match: { library: "lib 0", operation: "scenarios" }, times: 3, action: status(429) },
    always({ pathPattern: "metadata$|scenarios$" }, { kind: "delay", ms: 250 }),
  ]);

  const { code } = await made.call(["sync"], { SIMCAT_CONCURRENCY: "2" });

  expect(code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 8, retries: 3 });
});

test("a library that always answers 429 fails after bounded requests (faults 18, 19)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.always({ library: "lib 0", operation: "metadata" }, status(429));

  const ended = await made.call(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(["alice/lib 0 throttled"]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 7, libraries_failed: 1 });
  expect(made.asked().filter((line) => line.includes("lib%200/metadata")).length).toBeLessThan(25);
});

test("a Retry-After over SIMCAT_MAX_RETRY_WAIT ends the run for 429, fails the library for 503 (fault 18)", async () => {
  const made = await fixture(LIBRARIES);
  const syncRefused = (code: number) => {
    made.service.always({ library: "lib 7", operation: "scenarios" }, retryAfter(code, "3"));
    return made.call(["sync"], { SIMCAT_MAX_RETRY_WAIT: "2s" });
  };

  const failed = await syncRefused(503);
  expect(failed.code).toBe(2);
  expect(libraryLogLines(failed)).toEqual(["alice/lib 7 server_error"]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 7, libraries_failed: 1 });

  const ended = await syncRefused(429);
  expect(ended.code).toBe(69);
  expect(ended.stdout).toContain("longer than SIMCAT_MAX_RETRY_WAIT (2 s)");
  expect(await lastRun(made.query)).toMatchObject({ status: "source_unavailable" });
  expect(await made.lines("SELECT count(*) FROM simcat.libraries")).toEqual(["7"]);
});

test("a key refused during a run ends it as unauthorized and keeps what was read (faults 12, 13)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.script([
    { ...always({ operation: "listing" }, status(401)), skip: 1 },
    { ...always({ pathPattern: "metadata$|scenarios$" }, status(401)), skip: 6 },
  ]);

  const ended = await made.call(["sync"], { SIMCAT_CONCURRENCY: "1" });

  expect(ended.code).toBe(77);
  expect(ended.stdout).toContain("the service refused the key in the middle of the run");
  expect(await lastRun(made.query)).toMatchObject({ status: "unauthorized", libraries_read: 3 });
  expect(made.asked().length).toBeLessThan(12);
  expect(await made.lines("SELECT count(*) FROM simcat.libraries")).toEqual(["3"]);
});

test("a hundred forbidden libraries cost one confirmation of the key, and each one fails (fault 23)", async () => {
  const made = await fixture(libraries("alice", 0, 100));
  made.service.always({ pathPattern: "metadata$|scenarios$" }, status(401));

  const ended = await made.call(["sync"]);

  expect(ended.code).toBe(69);
  expect(await lastRun(made.query)).toMatchObject({ status: "source_unavailable", libraries_failed: 100 });
  expect(made.asked().filter((line) => line.endsWith("/libs"))).toHaveLength(2);
});
