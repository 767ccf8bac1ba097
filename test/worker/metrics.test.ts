import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { EVERY_SECOND, startWorker } from "./worker-under-test.ts";

const organization = [
  library("ann", "A", { scenarios: [1, 2, scenario(3, { parentId: 1 })] }),
  library("ann", "B", { scenarios: [4] }),
  library("bob", "C"),
];

/** Metrics of which no test expects a number. */
const OTHERS = [
  "simcat_next_run_timestamp_seconds",
  "simcat_process_resident_memory_bytes",
  "simcat_silent_changes_total",
];

test("has families that follow the conventions, name no library and count the work of a run", async () => {
  const { environment } = await fixture(organization, {
    faults: [
      { match: { library: "B", operation: "scenarios" }, action: { kind: "status", status: 503 } },
      {
        match: { library: "A", operation: "scenarios" },
        action: { kind: "alterItem", index: 1, setSource: { scenarioId: '"abc"' } },
      },
      { match: { library: "C", operation: "metadata" }, action: { kind: "status", status: 404 } },
    ],
  });
  const worker = startWorker(environment);
  expect(await worker.untilLogged("run_finished")).toMatchObject({ status: "partial" });
  await worker.untilLogged("next_run");
  const response = await worker.get("/metrics");
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  expect(text).not.toContain("ann");
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  for (const [name, type] of types) {
    expect(name).toMatch(/^simcat_[a-z0-9_]+$/);
    expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
  }
  expect([...types.keys()]).toEqual(expect.arrayContaining(OTHERS));
  const series = [...text.matchAll(/^(simcat_\w.*) (\S+)$/gm)].map(
    ([, name = "", value]) => [name, Number(value)] as const,
  );
  const moved = series.filter(([name, value]) => /_total\b/.test(name) && value !== 0 && !/process|nodejs/.test(name));
  expect(Object.fromEntries(moved)).toEqual({
    'simcat_runs_total{status="partial"}': 1,
    'simcat_libraries_total{outcome="changed"}': 2,
    'simcat_libraries_total{outcome="failed"}': 1,
    simcat_rejects_total: 1,
    'simcat_rows_written_total{table="libraries",change="changed"}': 2,
    'simcat_rows_written_total{table="scenarios",change="inserted"}': 3,
    'simcat_requests_total{operation="listing",status_class="2xx"}': 1,
    'simcat_requests_total{operation="metadata",status_class="2xx"}': 2,
    'simcat_requests_total{operation="metadata",status_class="4xx"}': 1,
    'simcat_requests_total{operation="scenarios",status_class="2xx"}': expect.any(Number),
    'simcat_requests_total{operation="scenarios",status_class="5xx"}': 1,
    simcat_request_retries_total: 1,
  });
  const gauge = (name: string) => new Map(series).get(name);
  expect(gauge('simcat_build_info{version="9.9.9"}')).toBe(1);
  expect(gauge("simcat_open_rejects")).toBe(1);
  expect(gauge("simcat_failing_libraries")).toBe(1);
  expect(gauge("simcat_ready")).toBe(1);
  expect(gauge("simcat_run_in_progress")).toBe(0);
  expect(gauge("simcat_seconds_since_last_success")).toBeLessThan(60);
  expect(gauge("simcat_oldest_library_read_lag_seconds")).toBeLessThan(60);
  expect(gauge("simcat_run_duration_seconds_count")).toBe(1);
});

test("moments and ages are those of the database", async () => {
  const { environment, query } = await fixture(organization);
  const worker = startWorker(environment);
  await worker.untilLogged("run_finished");
  await worker.untilLogged("next_run");
  const [run] = await query<{ s: number }>("SELECT extract(epoch FROM finished_at)::float8 AS s FROM simcat.sync_runs");
  expect(await worker.metric("simcat_last_success_timestamp_seconds")).toBeCloseTo(run?.s ?? Number.NaN, 2);
  expect(await worker.metric("simcat_seconds_since_last_success")).toBeLessThan(60);
  expect(await worker.metric("simcat_oldest_library_read_lag_seconds")).toBeLessThan(60);
  const [view] = await query<{ s: number }>(
    "SELECT extract(epoch FROM complete_as_of)::float8 AS s FROM simcat_report.data_complete_as_of",
  );
  expect(await worker.metric("simcat_complete_as_of_timestamp_seconds")).toBeCloseTo(view?.s ?? Number.NaN, 2);
  const body = { reasons: [], complete_as_of: expect.any(String), failing_libraries: 0 };
  expect(await worker.readyz()).toMatchObject({ status: 200, body });
  // The clock was set back (fault 373).
  await query("UPDATE simcat.library_sync SET content_read_at = now() + interval '1 day'");
  await expect.poll(() => worker.metric("simcat_oldest_library_read_lag_seconds")).toBe(0);
});

test("before the first good run its age is infinite and its time is 0", async () => {
  const { environment } = await fixture(organization, {
    faults: [{ times: "always", action: { kind: "status", status: 401 } }],
  });
  const worker = startWorker(environment);
  await worker.untilLogged("next_run");
  expect(await worker.metric("simcat_seconds_since_last_success")).toBe(Number.POSITIVE_INFINITY);
  expect(await worker.metric("simcat_last_success_timestamp_seconds")).toBe(0);
  expect(await worker.metric("simcat_ready")).toBe(0);
  expect(await worker.metric("simcat_complete_as_of_timestamp_seconds")).toBeNaN();
  for (const reason of ["running", "database", "suspended", "retry_after"]) {
    expect(await worker.metric(`simcat_missed_ticks_total{reason="${reason}"}`)).toBe(0);
  }
  expect(await worker.metric('simcat_runs_total{status="unauthorized"}')).toBe(1);
});

test("figures that cannot be read any more are unknown: neither old ones nor 0 (fault 216)", async () => {
  const { environment, query } = await fixture(organization);
  const worker = startWorker({ ...environment, SIMCAT_SCHEDULE: EVERY_SECOND });
  await worker.untilReadyz(200);
  const figures = [
    "complete_as_of_timestamp_seconds",
    "failing_libraries",
    "oldest_library_read_lag_seconds",
    "open_rejects",
  ];
  const values = () => Promise.all(figures.map((name) => worker.metric(`simcat_${name}`)));
  await expect.poll(values).toEqual([expect.any(Number), 0, expect.any(Number), 0]);

  await query("ALTER VIEW simcat_report.data_complete_as_of RENAME TO gone");

  await worker.untilReadyz(200, "freshness_unknown");
  await worker.untilLogged("run_finished", worker.logged("run_finished").length + 4);
  expect((await worker.readyz()).body).toMatchObject({
    reasons: [{ code: "freshness_unknown" }],
    complete_as_of: null,
    failing_libraries: null,
  });
  expect(await values()).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
});
