import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { headers, retryAfter } from "../faults/answers.ts";
import { gateAfter } from "../process/gate.ts";
import { API_KEY, fixture, syncedFixture } from "../support/fixture.ts";
import type { MockService } from "../support/mock/mock-service.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTrigger } from "../support/trigger.ts";
import { EVERY_SECOND, startWorker, WAIT } from "./worker-under-test.ts";

const three = [
  library("ann", "A", { scenarios: [1, 2] }),
  library("ann", "B", { scenarios: [3] }),
  library("bob", "C"),
];
const runs = "SELECT id, status, trigger FROM simcat.sync_runs ORDER BY id";

test("the first start syncs at once, and a start soon after a good run of all libraries waits for the tick", async () => {
  const { environment, query, call } = await fixture(three);
  const first = startWorker({ ...environment, SIMCAT_SCHEDULE: "0 3 1 1 *" });
  expect((await first.untilLogged("next_run")).at).toMatch(/^20\d\d-01-01T03:00:00\.000Z$/);
  expect(await query(runs)).toEqual([{ id: "1", status: "ok", trigger: "schedule" }]);
  expect(await query("SELECT count(*)::int AS live FROM simcat.scenarios")).toEqual([{ live: 3 }]);
  expect(await first.stop()).toBe(0);

  const early = startWorker(environment);
  // Probes from the start, which find no database yet (fault 306).
  await early.untilReadyz(200);
  expect(await early.untilLogged("run_not_due")).toMatchObject({ run: 1, level: "info" });
  await early.untilLogged("next_run");
  expect(await early.stop()).toBe(0);
  expect(await query(runs)).toHaveLength(1);

  await query("UPDATE simcat.sync_runs SET started_at = started_at - interval '367 days'");
  await call(["sync", "--owner", "ann"]);
  const late = startWorker(environment);
  await late.untilLogged("run_finished");
  expect(late.logged("run_not_due")).toEqual([]);
});

test("counts and logs ticks and waits during a run, and does not make up for them (fault 67)", async () => {
  const { environment, service, query } = await fixture(three, {
    faults: [{ match: { operation: "listing" }, action: retryAfter(429, "3") }],
  });
  const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
  const missed = await worker.untilLogged("missed_tick", 2);
  expect(missed).toMatchObject({ level: "warn", reason: "running", count: 1, run: 1 });
  await worker.untilLogged("run_finished");
  expect(await worker.metric('simcat_missed_ticks_total{reason="running"}')).toBeGreaterThanOrEqual(2);
  expect(await worker.metric("simcat_rate_limit_wait_seconds_total")).toBeCloseTo(3, 1);
  expect(await worker.metric("simcat_schedule_interval_seconds")).toBe(1);
  await worker.untilLogged("run_finished", 3);
  const [first, second, third] = await query<{ startedAt: Date; finishedAt: Date }>(
    `SELECT started_at AS "startedAt", finished_at AS "finishedAt" FROM simcat.sync_runs ORDER BY id LIMIT 3`,
  );
  expect(Number(second?.startedAt)).toBeGreaterThan(Number(first?.finishedAt));
  expect(Number(third?.startedAt) - Number(second?.startedAt)).toBeGreaterThan(500);
  expect(service.violations).toEqual([]);
});

test("a service that refuses the key fails runs, not the worker, which masks an echoed key", async () => {
  const { environment, service } = await fixture(three);
  const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
  await worker.untilLogged("run_finished");
  service.always({ operation: "listing" }, { kind: "status", status: 401, body: `no such key: ${API_KEY}` });
  expect(await worker.untilLogged("unauthorized")).toMatchObject({ level: "error", status: "unauthorized" });
  const { reasons, last_good_run } = await worker.untilReadyz(503, "stale", "unauthorized");
  expect(reasons[1]?.message).toContain("check SIMCAT_API_KEY");
  expect(last_good_run).toMatchObject({ status: "ok" });
  for (const path of ["/", "/readyz", "/metrics", "/nowhere"]) {
    expect(await (await worker.get(path)).text()).not.toContain(API_KEY);
  }
  expect(JSON.stringify(worker.lines)).not.toContain(API_KEY);
  service.script([]);
  await worker.untilReadyz(200);
});

test("a schema of a later version prevents runs and logs an error, until it matches again", async () => {
  const { environment, query } = await fixture(three);
  const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
  await worker.untilLogged("run_finished");
  await query("INSERT INTO simcat_migrations.__drizzle_migrations (hash, created_at) VALUES ('later', 9999999999999)");
  expect(await worker.untilLogged("configuration")).toMatchObject({ level: "error", msg: "run could not start" });
  await worker.untilReadyz(503, "schema_newer");
  const before = worker.logged("run_finished").length;
  await query("DELETE FROM simcat_migrations.__drizzle_migrations WHERE hash = 'later'");
  await worker.untilLogged("run_finished", before + 1);
});

test("runs are unknown, not missing, while the schema is of an earlier version (fault 285)", async () => {
  const { environment, query } = await syncedFixture(three);
  const worker = startWorker(environment);
  await worker.untilReadyz(200);
  await query("DELETE FROM simcat_migrations.__drizzle_migrations WHERE hash LIKE 'views %'");
  const { reasons, last_good_run } = await worker.untilReadyz(503, "schema_behind");
  expect([reasons, last_good_run]).toMatchObject([[{ code: "schema_behind" }], null]);
  const page = await (await worker.get("/")).text();
  expect(page).not.toMatch(/No run yet|last good run|never/);
  expect(await worker.metric("simcat_last_success_timestamp_seconds")).toBeNaN();
  expect(await worker.metric("simcat_seconds_since_last_success")).toBeNaN();

  await query("DROP SCHEMA simcat, simcat_report, simcat_migrations CASCADE");
  await worker.untilReadyz(503, "schema_behind", "no_good_run");
  expect(await (await worker.get("/")).text()).toContain("No run yet");
});

test("the next run uses a key rotated in its file; a missing file is logged and does not end the worker", async () => {
  const { environment } = await fixture(three);
  const file = join(temporaryDirectory(), "key");
  writeFileSync(file, "key-of-yesterday");
  const fromFile = { SIMCAT_API_KEY: "", SIMCAT_API_KEY_FILE: file, SIMCAT_SCHEDULE: EVERY_SECOND };
  const worker = startWorker({ ...environment, ...fromFile });
  await worker.untilLogged("unauthorized");
  rmSync(file);
  const error = expect.stringContaining("SIMCAT_API_KEY_FILE");
  expect(await worker.untilLogged("configuration")).toMatchObject({ level: "error", error });
  expect((await worker.readyz()).body.reasons.map(({ code }) => code)).toContain("configuration");
  writeFileSync(file, `${API_KEY}\n`);
  expect(await worker.untilLogged("run_finished")).toMatchObject({ status: "ok" });
});

test.each([
  ["of another organization", 10, Array.from({ length: 10 }, (_, at) => library("eve", `other ${at}`))],
  ["of another organization, and stores it", 3, [library("eve", "other")]],
  ["without any library", 10, []],
])("a run that met a listing %s is no good run, and the copy becomes stale (fault 140)", async (_, count, others) => {
  const before = Array.from({ length: count }, (_, at) => library("ann", `lib ${at}`));
  const { environment, service } = await fixture(before);
  const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
  await worker.untilLogged("run_finished");
  for (const { owner, name } of before) service.remove(owner, name);
  for (const other of others) service.put(other);
  await vi.waitFor(() => expect(worker.lines).toContainEqual(expect.objectContaining({ status: "held" })), WAIT);
  const lastSuccess = await worker.metric("simcat_last_success_timestamp_seconds");
  const { last_good_run } = await worker.untilReadyz(503, "stale", "held");
  expect(last_good_run).toMatchObject({ status: "ok" });
  expect(await worker.metric("simcat_last_success_timestamp_seconds")).toBe(lastSuccess);
  // While a run reads the other library again, it makes progress, and the worker is ready.
  await vi.waitFor(async () => expect(await worker.metric("simcat_ready")).toBe(0), WAIT);
});

test.each([
  ["the listing", { operation: "listing" }, 429],
  ["all content", { pathPattern: "/user/" }, 503],
] as const)(
  "after a long Retry-After of %s the worker skips ticks until then, and says so (fault 160)",
  async (_, match, status) => {
    const { environment, service } = await fixture(three);
    service.always(match, retryAfter(status, "3600"));
    const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
    const { until } = await worker.untilLogged("retry_after");
    const asked = service.requests.length;
    expect(Date.parse(String(until)) - Date.now()).toBeGreaterThan(3_500_000);
    const skipped = () => worker.logged("missed_tick").filter(({ reason }) => reason === "retry_after");
    await vi.waitFor(() => expect(skipped().length).toBeGreaterThanOrEqual(2), WAIT);
    expect(service.requests).toHaveLength(asked);
    const { body } = await worker.readyz();
    expect(body.reasons.map(({ code }) => code)).toContain("retry_after");
    expect(Date.parse(body.next_run)).toBeGreaterThanOrEqual(Date.parse(String(until)));
    expect(await (await worker.get("/")).text()).toContain("retry after</b>");
    expect(await worker.metric('simcat_missed_ticks_total{reason="retry_after"}')).toBeGreaterThanOrEqual(2);
  },
);

const readAged = (service: MockService) => {
  service.always({ library: "C", operation: "metadata" }, headers({ age: "3600" }));
  service.change("bob", "C", { lastModified: "2026-07-02 12:00:00" });
};
const behind = /^1 library is behind; the copy is complete as of /;
const incomplete = /^the copy shows the service as of .*: later listings came from a cache or were/;

test.each<[string, RegExp, (service: MockService) => void]>([
  ["the listing", incomplete, (service) => service.always({ operation: "listing" }, headers({ age: "3600" }))],
  ["content", behind, readAged],
])(
  "while %s comes from a cache, the worker is ready and not up to date (faults 173, 277 and 329)",
  async (_, message, spoil) => {
    const { environment, service } = await fixture(three);
    const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
    await vi.waitFor(async () => expect(await (await worker.get("/")).text()).toContain("up to date"), WAIT);
    spoil(service);
    await vi.waitFor(async () => {
      const { status, body } = await worker.readyz();
      expect(status).toBe(200);
      expect(body.reasons).toContainEqual(expect.objectContaining({ message: expect.stringMatching(message) }));
    }, WAIT);
    expect(await (await worker.get("/")).text()).not.toContain("up to date");
  },
);

const version = (name: string, days: number) => `
  INSERT INTO simcat.library_history (owner, library_name, first_seen_at, changed_at, run_id, valid_from, valid_to, superseded_by)
  SELECT 'ann', '${name}', moment, moment, 1, moment - interval '1 day', moment, 1
  FROM (SELECT now() - interval '${days} days' AS moment) AS m`;
const keepYear = { SIMCAT_SCHEDULE: EVERY_SECOND, SIMCAT_KEEP_HISTORY: "395d" };

test("prunes the history once a day after a good run, and keeps what is younger than SIMCAT_KEEP_HISTORY", async () => {
  const { environment, query } = await syncedFixture(three);
  await query(version("old", 400));
  await query(version("young", 300));
  const names = "SELECT library_name AS name FROM simcat.library_history ORDER BY 1";
  const worker = startWorker({ ...environment, ...keepYear });
  expect(await worker.untilLogged("history_pruned")).toMatchObject({ level: "info", rows: 1 });
  expect(await query(names)).toEqual([{ name: "young" }]);
  await query(version("old", 400));
  await worker.untilLogged("run_finished", 3);
  expect(worker.logged("history_pruned")).toHaveLength(1);
  expect(await query(names)).toHaveLength(2);
  await worker.stop();

  // A prune that fails is a warning, and the worker goes on and stays ready.
  await createTrigger(query, "BEFORE DELETE ON simcat.library_history FOR EACH ROW", "RAISE 'no prune today';");
  const refused = startWorker({ ...environment, ...keepYear });
  const error = expect.stringContaining("no prune today");
  expect(await refused.untilLogged("prune_failed")).toMatchObject({ level: "warn", error });
  await refused.untilLogged("run_finished", 2);
  expect(refused.logged("prune_failed")).toHaveLength(1);
  expect((await refused.readyz()).status).toBe(200);
});

test.each([
  [["sync"], 200, []],
  [["sync", "--owner", "ann"], 503, ["no_good_run"]],
])(
  "another process that holds up a run with %j is logged, and named only while it is at work (faults 64, 220)",
  async (args, ...after) => {
    const gate = gateAfter(0);
    const { environment, start } = await fixture(three, { onRequest: gate.onRequest });
    const other = start(args);
    await gate.reached;
    const worker = startWorker(environment);
    const detail = expect.stringContaining(`:${other.process.pid}`);
    expect(await worker.untilLogged("busy")).toMatchObject({ level: "warn", detail });
    expect(await worker.metric("simcat_busy_ticks_total")).toBe(1);
    // A first run of everything needs no alert (fault 383).
    await worker.untilReadyz(after[0], "no_good_run", "busy");

    gate.open();

    expect((await other.ended).code).toBe(0);
    await vi.waitFor(async () => {
      const { status, body } = await worker.readyz();
      expect([status, body.reasons.map(({ code }) => code)]).toEqual(after);
    }, WAIT);
  },
);

test("a run whose process has died is no run in progress, and took an unknown time (fault 284)", async () => {
  const { environment, query } = await syncedFixture(three);
  const worker = startWorker(environment);
  await worker.untilLogged("run_not_due");
  const page = async () => (await worker.get("/")).text();
  await query(
    "INSERT INTO simcat.sync_runs (kind, trigger, status, started_at, version) VALUES ('backfill', 'cli', 'running', now() - interval '3 days', '1')",
  );
  await vi.waitFor(async () => expect(await page()).toContain("<small>backfill</small>"), WAIT);
  const dead = await page();
  expect(dead).not.toContain("</svg> running");
  expect(dead).toContain("the process has ended; the next run marks this as abandoned");
  expect(dead).toContain('<td class="number" data-title="took"></td>');

  await query("UPDATE simcat.leases SET holder = 'elsewhere:1', expires_at = clock_timestamp() + interval '1 hour'");
  await vi.waitFor(async () => expect(await page()).toContain("</svg> running"), WAIT);
});

test("a run that has ended is shown at once, however short ago the state was read", async () => {
  const gate = gateAfter(0);
  const { environment } = await fixture(three, { onRequest: gate.onRequest });
  const worker = startWorker(environment);
  await gate.reached;
  await worker.untilReadyz(503, "no_good_run");

  gate.open();
  await worker.untilLogged("run_finished");

  expect((await worker.readyz()).body).toMatchObject({ reasons: [], last_good_run: { id: 1, status: "ok" } });
});
