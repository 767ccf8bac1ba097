import { expect, test, vi } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import type { Fault } from "../support/mock/faults.ts";
import type { RecordedRequest } from "../support/mock/recorder.ts";
import { library } from "../support/organization.ts";
import { lastRun, libraryLogLines, logLines } from "./run-results.ts";

// Many consecutive runs, each of which can be slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const LIBRARIES = Array.from({ length: 8 }, (_, at) => library("alice", `lib ${at}`, { scenarios: [1] }));

/**
 * Sends sixteen content requests, the first of which is refused while others are in flight. Returns the number of
 * requests that arrived before the refusal took effect, and the delay until the next one in milliseconds.
 */
async function pauseAfter(refusal: Fault["action"], skip = 0, environment: Readonly<Record<string, string>> = {}) {
  const made = await fixture(LIBRARIES);
  made.service.script([
    { match: { pathPattern: "metadata$|scenarios$" }, skip, action: refusal },
    { match: { pathPattern: "metadata$|scenarios$" }, times: "always", action: { kind: "delay", ms: 400 } },
  ]);
  const ended = await made.simcat(["sync"], environment);
  const content = made.service.requests.filter(({ path }) => path !== "/libs");
  const refused = content.findIndex(({ fault }) => fault !== "delay");
  const at = content[refused]?.at ?? 0;
  const gap = widestGap(content);
  return { ...made, ended, before: gap.before, waited: gap.startsAt - at, requests: content.length };
}

/** The longest gap between two requests, and the number of requests before it. */
function widestGap(requests: readonly RecordedRequest[]) {
  const gaps = requests
    .slice(1)
    .map((one, index) => ({ ms: one.at - (requests[index]?.at ?? 0), startsAt: one.at, before: index + 1 }));
  return gaps.reduce((widest, gap) => (gap.ms > widest.ms ? gap : widest), { ms: 0, startsAt: 0, before: 0 });
}

test("after 429 with Retry-After: 2 no request leaves within two seconds (fault 18)", async () => {
  const { ended, before, waited, requests, query } = await pauseAfter({
    kind: "status",
    status: 429,
    headers: { "retry-after": "2" },
  });

  expect(ended.code).toBe(0);
  expect(waited).toBeGreaterThan(2_000);
  expect(waited).toBeLessThan(10_000);
  // The number of requests that the slow start has in flight.
  expect(before).toBeLessThanOrEqual(5);
  expect(requests).toBe(17);
  expect(await lastRun(query)).toMatchObject({ status: "ok", libraries_read: 8, retries: 1 });
  expect(logLines(ended).filter(({ code }) => code === "throttled")).toMatchObject([{ wait_ms: 2_000 }]);
});

test("503, 408 and 500 with a Retry-After pause one library while the others continue (fault 18)", async () => {
  for (const [status, operation] of [
    [503, "metadata"],
    [408, "scenarios"],
    [500, "metadata"],
  ] as const) {
    const made = await fixture(LIBRARIES);
    made.service.once({ library: "lib 0", operation }, { kind: "status", status, headers: { "retry-after": "2" } });
    const ended = await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "2" });
    const content = made.service.requests.filter(({ path }) => path !== "/libs");
    const refused = content.find(({ fault }) => fault === "status")?.at ?? 0;
    const repeated = content.at(-1);
    const others = content.filter(({ path }) => !path.includes("lib%200"));
    expect({ status, code: ended.code, requests: content.length }).toEqual({ status, code: 0, requests: 17 });
    expect(repeated?.path).toContain(`lib%200/${operation}`);
    expect((repeated?.at ?? 0) - refused).toBeGreaterThanOrEqual(2_000);
    expect(others.every(({ at }) => at < (repeated?.at ?? 0))).toBe(true);
    expect(logLines(ended).filter(({ code }) => code === "throttled")).toEqual([]);
    expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 8, retries: 1 });
  }
});

test("503 with a Retry-After on two libraries pauses the whole run (fault 18)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.script([
    ...["lib 0", "lib 1"].map((name) => ({
      match: { library: name, operation: "metadata" as const },
      action: { kind: "status" as const, status: 503, headers: { "retry-after": "2" } },
    })),
    { match: { pathPattern: "metadata$|scenarios$" }, times: "always", action: { kind: "delay", ms: 400 } },
  ]);

  const ended = await made.simcat(["sync"]);

  const content = made.service.requests.filter(({ path }) => path !== "/libs");
  const second = content.filter(({ fault }) => fault === "status").at(1)?.at ?? 0;
  const gap = widestGap(content);
  expect(ended.code).toBe(0);
  expect(gap.startsAt - second).toBeGreaterThanOrEqual(2_000);
  expect(gap.before).toBeLessThanOrEqual(8);
  expect(logLines(ended).filter(({ code }) => code === "throttled")).toMatchObject([{ wait_ms: 2_000 }]);
});

test("a library that always answers 503 with a Retry-After delays no other library (fault 18)", async () => {
  const made = await fixture(Array.from({ length: 200 }, (_, at) => library("alice", `lib ${at}`, { scenarios: [1] })));
  made.service.always(
    { library: "lib 0", operation: "metadata" },
    { kind: "status", status: 503, headers: { "retry-after": "2" } },
  );

  const ended = await made.simcat(["sync"], { SIMCAT_MAX_RETRIES: "1" });

  const refused = made.service.requests.filter(({ fault }) => fault === "status").map(({ at }) => at);
  const others = made.service.requests.filter(({ path }) => path.includes("/lib%20") && !path.includes("/lib%200/"));
  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual([{ owner: "alice", library: "lib 0", code: "server_error" }]);
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
  made.service.script(
    ["lib 0", "lib 1"].map((name) => ({
      match: { library: name, operation: "metadata" },
      times: "always",
      action: { kind: "status", status: 503, headers: { "retry-after": "1" } },
    })),
  );

  const ended = await made.simcat(["backfill"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended).map(({ library }) => library)).toEqual(["lib 0", "lib 1"]);
  expect(logLines(ended).filter(({ code, library }) => code === "throttled" && library === undefined)).toEqual([]);
  expect(ended.stdout).not.toContain("SIMCAT_MAX_RPS");
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 6, libraries_failed: 2 });
});

test("rate limiting fails no library, and the summary names SIMCAT_MAX_RPS (fault 22)", async () => {
  for (const status of [429, 503]) {
    const made = await fixture(
      Array.from({ length: 80 }, (_, at) => library("alice", `lib ${at}`, { scenarios: [1] })),
    );
    made.service.script([{ times: "always", action: { kind: "throttle", perSecond: 100, status } }]);

    const ended = await made.simcat(["sync"]);

    const requests = made.asked().length;
    const throttled = requests - 161;
    expect(ended.code).toBe(0);
    expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 80 });
    expect(throttled).toBeLessThan(80);
    expect(ended.stdout.includes("SIMCAT_MAX_RPS")).toBe(throttled / requests > 0.05);
  }
});

test("a Retry-After date is measured against the answer's Date, not our clock (fault 19)", async () => {
  const { ended, waited } = await pauseAfter({
    kind: "status",
    status: 429,
    headers: { date: "Fri, 31 Dec 1999 23:59:58 GMT", "retry-after": "Sat, 01 Jan 2000 00:00:00 GMT" },
  });

  expect(ended.code).toBe(0);
  expect(waited).toBeGreaterThan(2_000);
  expect(waited).toBeLessThan(10_000);
});

test("a past, negative, zero or invalid Retry-After falls back to our own back-off (fault 19)", async () => {
  const values = [
    "Fri, 31 Dec 1999 23:59:59 GMT",
    "-5",
    "0",
    "soon",
    "",
    "1.5",
    "2030-01-01T00:00:00Z",
    "99999999999999999999 seconds",
  ];
  const made = await fixture(values.map((_, at) => library("alice", `lib ${at}`)));
  made.service.script(
    values.map((value, at) => ({
      match: { library: `lib ${at}`, operation: "scenarios" },
      action: { kind: "status", status: 429, headers: { "retry-after": value } },
    })),
  );
  const started = performance.now();

  const { code } = await made.simcat(["sync"]);

  expect(code).toBe(0);
  expect(performance.now() - started).toBeLessThan(20_000);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 8, retries: 8 });
});

test("429 without a header backs off without using up attempts while others succeed (fault 19)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.script([
    { match: { library: "lib 0", operation: "scenarios" }, times: 3, action: { kind: "status", status: 429 } },
    { match: { pathPattern: "metadata$|scenarios$" }, times: "always", action: { kind: "delay", ms: 250 } },
  ]);

  const { code } = await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "2" });

  expect(code).toBe(0);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_read: 8, retries: 3 });
});

test("a library that always answers 429 fails after bounded requests (faults 18, 19)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.always({ library: "lib 0", operation: "metadata" }, { kind: "status", status: 429 });

  const ended = await made.simcat(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual([{ owner: "alice", library: "lib 0", code: "throttled" }]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 7, libraries_failed: 1 });
  expect(made.asked().filter((line) => line.includes("lib%200/metadata")).length).toBeLessThan(25);
});

test("a Retry-After over SIMCAT_MAX_RETRY_WAIT ends the run for 429, fails the library for 503 (fault 18)", async () => {
  const made = await fixture(LIBRARIES);
  const refuse = (status: number): void =>
    made.service.always(
      { library: "lib 7", operation: "scenarios" },
      { kind: "status", status, headers: { "retry-after": "3" } },
    );

  refuse(503);
  const failed = await made.simcat(["sync"], { SIMCAT_MAX_RETRY_WAIT: "2s" });
  const failedRun = await lastRun(made.query);
  refuse(429);
  const ended = await made.simcat(["sync"], { SIMCAT_MAX_RETRY_WAIT: "2s" });

  expect(failed.code).toBe(2);
  expect(libraryLogLines(failed)).toEqual([{ owner: "alice", library: "lib 7", code: "server_error" }]);
  expect(failedRun).toMatchObject({ status: "partial", libraries_read: 7, libraries_failed: 1 });
  expect(ended.code).toBe(69);
  expect(ended.stdout).toContain("longer than SIMCAT_MAX_RETRY_WAIT (2 s)");
  expect(await lastRun(made.query)).toMatchObject({ status: "source_unavailable" });
  expect(await made.query("SELECT count(*)::int AS live FROM simcat.libraries")).toEqual([{ live: 7 }]);
});

test("a key refused during a run ends it as unauthorized and keeps what was read (faults 12, 13)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.script([
    { match: { operation: "listing" }, skip: 1, times: "always", action: { kind: "status", status: 401 } },
    {
      match: { pathPattern: "metadata$|scenarios$" },
      skip: 6,
      times: "always",
      action: { kind: "status", status: 401 },
    },
  ]);

  const ended = await made.simcat(["sync"], { SIMCAT_CONCURRENCY: "1" });

  expect(ended.code).toBe(77);
  expect(ended.stdout).toContain("the service refused the key in the middle of the run");
  expect(await lastRun(made.query)).toMatchObject({ status: "unauthorized", libraries_read: 3 });
  expect(made.asked().length).toBeLessThan(12);
  expect(await made.query("SELECT count(*)::int AS live FROM simcat.libraries")).toEqual([{ live: 3 }]);
});

test("a hundred forbidden libraries cost one confirmation of the key, and each one fails (fault 23)", async () => {
  const made = await fixture(Array.from({ length: 100 }, (_, at) => library("alice", `lib ${at}`)));
  made.service.always({ pathPattern: "metadata$|scenarios$" }, { kind: "status", status: 401 });

  const ended = await made.simcat(["sync"]);

  expect(ended.code).toBe(69);
  expect(await lastRun(made.query)).toMatchObject({ status: "source_unavailable", libraries_failed: 100 });
  expect(made.asked().filter((line) => line.endsWith("/libs"))).toHaveLength(2);
});

test("twenty consecutive libraries that the service cannot return end the run, nineteen do not (fault 17)", async () => {
  const made = await fixture([
    library("alice", "good"),
    ...Array.from({ length: 30 }, (_, at) => library("bob", `lib ${at}`, { scenarios: [1] })),
  ]);
  const down = (from: number): void =>
    made.service.script(
      Array.from({ length: 30 - from }, (_, at) => ({
        match: { library: `lib ${at + from}` },
        times: "always",
        action: { kind: "status", status: 500 },
      })),
    );

  down(11);
  const nineteen = await made.simcat(["sync"], { SIMCAT_MAX_RETRIES: "0", SIMCAT_CONCURRENCY: "2" });
  expect(nineteen.code).toBe(2);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 12, libraries_failed: 19 });

  const fresh = await fixture(Array.from({ length: 30 }, (_, at) => library("bob", `lib ${at}`)));
  fresh.service.always({ owner: "bob" }, { kind: "status", status: 502 });
  const broken = await fresh.simcat(["sync"], { SIMCAT_MAX_RETRIES: "0", SIMCAT_CONCURRENCY: "2" });
  expect(broken.code).toBe(69);
  expect(broken.stdout).toContain("20 libraries in a row could not be read");
  expect(await lastRun(fresh.query)).toMatchObject({ status: "source_unavailable" });
  expect(fresh.asked().length).toBeLessThan(46);
});
