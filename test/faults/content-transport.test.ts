import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";
import { expectKeepsFailing, type Failing } from "./failing-content.ts";
import { lastRun } from "./run-results.ts";

const on =
  (code: string, asked: number) =>
  (name: string, operation: Failing["operation"], action: FaultAction): Failing => ({
    name: `${name} on ${operation}`,
    operation,
    action,
    code,
    asked,
  });

const cut = on("truncated", 2);
const silent = on("timeout", 2);
const reset = on("network", 2);
/** After a reset, the kernel may discard a head that it has received and that was not read yet. */
const resetBehindHead = on(expect.stringMatching(/^(network|truncated)$/), 2);

test("a truncated answer is requested again; the stored copy is kept if that fails too (fault 3)", async () => {
  await expectKeepsFailing([
    cut("short of its length", "scenarios", { kind: "truncate", how: "length" }),
    cut("short of its length", "metadata", { kind: "truncate", how: "length" }),
    cut("short by one byte", "scenarios", { kind: "truncate", how: "length", bytes: -1 }),
    cut("chunks without their end", "scenarios", { kind: "truncate", how: "chunked" }),
    cut("chunks without their end", "metadata", { kind: "truncate", how: "chunked" }),
    cut("all bytes but no last chunk", "scenarios", { kind: "truncate", how: "chunked", bytes: 1_000_000 }),
    cut("ended by the close", "scenarios", { kind: "truncate", how: "close" }),
    cut("ended by the close", "metadata", { kind: "truncate", how: "close" }),
    cut("ended by the close before the first byte", "scenarios", { kind: "truncate", how: "close", bytes: 0 }),
    cut("ended by the close behind the bracket", "scenarios", { kind: "truncate", how: "close", bytes: 1 }),
    cut("ended by the close before the last bracket", "scenarios", { kind: "truncate", how: "close", bytes: -1 }),
    cut("ended by the close before the last brace", "metadata", { kind: "truncate", how: "close", bytes: -1 }),
    resetBehindHead("a reset behind the head", "scenarios", { kind: "reset", afterBytes: 0 }),
    resetBehindHead("a reset in the body", "metadata", { kind: "reset", afterBytes: 20 }),
    reset("a reset before the head", "scenarios", { kind: "reset" }),
    reset("a reset before the head", "metadata", { kind: "reset" }),
  ]);
});

test("a silent server fails only its own library, after the time-out (fault 4)", async () => {
  await expectKeepsFailing(
    [
      silent("silent from the start", "scenarios", { kind: "hang" }),
      silent("silent from the start", "metadata", { kind: "hang" }),
      silent("silent behind the head", "scenarios", { kind: "hang", after: "head" }),
      silent("silent behind the head", "metadata", { kind: "hang", after: "head" }),
      silent("silent in the body", "scenarios", { kind: "hang", after: 30 }),
      silent("one byte a second", "scenarios", { kind: "drip", bytes: 1, everyMs: 1000 }),
      silent("one byte a second", "metadata", { kind: "drip", bytes: 1, everyMs: 1000 }),
      silent("later than the time-out", "scenarios", { kind: "delay", ms: 60_000 }),
    ],
    { SIMCAT_REQUEST_TIMEOUT: "2500ms" },
  );
});

test("response headers over the client's limit fail the library, not the run (fault 21)", async () => {
  const over = on("invalid_response", 1);
  await expectKeepsFailing([
    over("128 KiB of headers", "scenarios", { kind: "hugeHeaders" }),
    over("128 KiB of headers", "metadata", { kind: "hugeHeaders" }),
    over("17 KiB of headers", "scenarios", { kind: "hugeHeaders", bytes: 17 * 1024 }),
    over("one header of 20 KB", "scenarios", { kind: "headers", set: { "x-long": "x".repeat(20_000) } }),
    over("two thousand headers", "metadata", {
      kind: "headers",
      set: Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`x-${at}`, "0123456789"])),
    }),
  ]);
});

test("headers just below the limit are accepted (fault 21)", async () => {
  const { simcat, service } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
  service.script([{ times: "always", action: { kind: "headers", set: { "x-long": "x".repeat(15_000) } } }]);

  expect((await simcat(["sync"])).code).toBe(0);
});

test("a transient failure is retried, and the rows are exact (faults 2, 3, 4, 17)", async () => {
  const scenarios = Array.from({ length: 3_000 }, (_, at) =>
    scenario(at + 1, { description: `burn ${at}`.repeat(10) }),
  );
  const once: [string, Failing["operation"], FaultAction][] = [
    ["reset within the list", "scenarios", { kind: "reset", afterBytes: 200_000 }],
    ["reset behind the first byte", "scenarios", { kind: "reset", afterBytes: 1 }],
    ["reset before the head", "scenarios", { kind: "reset" }],
    ["reset within the metadata", "metadata", { kind: "reset", afterBytes: 30 }],
    ["short of its length", "scenarios", { kind: "truncate", how: "length", bytes: 300_000 }],
    ["chunks without their end", "scenarios", { kind: "truncate", how: "chunked", bytes: 300_000 }],
    ["ended by the close", "scenarios", { kind: "truncate", how: "close", bytes: 300_000 }],
    ["ended by the close in the metadata", "metadata", { kind: "truncate", how: "close" }],
    ["silent within the list", "scenarios", { kind: "hang", after: 100_000 }],
    ["silent from the start", "metadata", { kind: "hang" }],
    ["503", "scenarios", { kind: "status", status: 503 }],
    ["408", "scenarios", { kind: "status", status: 408 }],
  ];
  const { simcat, query, service } = await fixture(once.map(([name]) => library("alice", name, { scenarios })));
  service.script([
    { match: { operation: "listing" }, action: { kind: "truncate" } },
    ...once.map(([name, operation, action]) => ({ match: { library: name, operation }, action })),
  ]);

  const { code } = await simcat(["sync"], { SIMCAT_REQUEST_TIMEOUT: "5s" });

  expect(code).toBe(0);
  expect(await lastRun(query)).toEqual({
    status: "ok",
    libraries_listed: 12,
    libraries_read: 12,
    libraries_changed: 12,
    scenarios_inserted: 36_000,
    retries: 13,
  });
  expect(
    await query(
      `SELECT library_name AS name, count(*)::int AS scenarios, count(DISTINCT scenario_id)::int AS ids,
         bool_and(description = repeat('burn ' || scenario_id - 1, 10)) AS exact
       FROM simcat.scenarios GROUP BY 1 ORDER BY 1`,
    ),
  ).toEqual(
    once
      .map(([name]) => ({ name, scenarios: 3_000, ids: 3_000, exact: true }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  );
});

const twoLibraries = () => fixture(["a", "b"].map((name, at) => library("alice", name, { scenarios: [at + 1] })));
const ONE_AT_A_TIME = { SIMCAT_CONCURRENCY: "1" };

test("a request on a reused connection that closes is retried (fault 5)", async () => {
  const { simcat, query, service, asked } = await twoLibraries();
  service.once({ operation: "listing" }, { kind: "closeKeepAlive", when: "nextRequest" });

  const { code, stderr } = await simcat(["sync"], ONE_AT_A_TIME);

  expect(code).toBe(0);
  expect(stderr).not.toContain('"warn"');
  expect(await query("SELECT status, retries FROM simcat.sync_runs")).toEqual([{ status: "ok", retries: 1 }]);
  expect(await query("SELECT count(*)::int AS rows FROM simcat.scenarios")).toEqual([{ rows: 2 }]);
  expect(asked().toSorted()).toEqual([
    "GET /libs",
    "GET /libs/user/alice/a/metadata",
    "GET /libs/user/alice/a/metadata",
    "GET /libs/user/alice/a/scenarios",
    "GET /libs/user/alice/b/metadata",
    "GET /libs/user/alice/b/scenarios",
  ]);
});

test("connections closed after their answers fail no library, detected in time or not (fault 5)", async () => {
  const { simcat, query, service, asked } = await twoLibraries();
  service.always({ operation: "metadata" }, { kind: "closeKeepAlive", when: "afterAnswer" });

  const { code, stderr } = await simcat(["sync"], ONE_AT_A_TIME);

  expect(code).toBe(0);
  expect(stderr).not.toContain('"warn"');
  // Each of the two connections may be reused just before its end arrives.
  expect(await query("SELECT status, retries FROM simcat.sync_runs")).toEqual([
    { status: "ok", retries: expect.toBeOneOf([0, 1, 2]) },
  ]);
  expect(await query("SELECT count(*)::int AS rows FROM simcat.scenarios")).toEqual([{ rows: 2 }]);
  expect([...new Set(asked())].toSorted()).toEqual([
    "GET /libs",
    "GET /libs/user/alice/a/metadata",
    "GET /libs/user/alice/a/scenarios",
    "GET /libs/user/alice/b/metadata",
    "GET /libs/user/alice/b/scenarios",
  ]);
});
