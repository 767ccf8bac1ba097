import { cpSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test, vi } from "vitest";
import { DatabaseError } from "../../src/errors.ts";
import { startPostgresProxy } from "../postgres/proxy.ts";
import { startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { EVERY_SECOND, startWorker, WAIT } from "./worker-under-test.ts";

const one = [library("ann", "A", { scenarios: [1] })];

/** A worker whose connections to the database can be cut, and can stop to answer. */
async function workerBehindProxy(settings: Readonly<Record<string, string>> = {}) {
  const { environment, database } = await fixture(one);
  const proxy = await startPostgresProxy(database.url);
  const worker = startWorker({ ...environment, DATABASE_URL: proxy.url(database.url), ...settings });
  return { worker, proxy };
}

test("an unavailable database at the start ends the worker as database failure, without any request", async () => {
  const { environment, service } = await fixture(one);
  // No server listens on this port.
  const worker = startWorker({ ...environment, DATABASE_URL: "postgres://nobody:nothing@127.0.0.1:9/none" });
  const { status, body } = await worker.readyz();
  expect([status, body.reasons[0]?.code]).toEqual([503, "starting"]);
  expect((await worker.get("/healthz")).status).toBe(200);
  await expect(worker.ended).rejects.toThrow(DatabaseError);
  expect(service.requests).toEqual([]);
});

test("an unresponsive database does not delay a probe, a scrape, or the shutdown", async () => {
  const { worker, proxy } = await workerBehindProxy();
  await worker.untilLogged("next_run");
  proxy.judge = () => "black-hole";
  await worker.untilReadyz(503, "database_unreachable");
  for (const path of ["/metrics", "/"]) {
    const asked = performance.now();
    expect((await worker.get(path)).status).toBe(200);
    expect(performance.now() - asked).toBeLessThan(5_000);
  }
  expect(await worker.stop()).toBe(0);
});

test("in a database outage, /readyz, page and metrics show the last run of this process (fault 92)", async () => {
  const { worker, proxy } = await workerBehindProxy({ SIMCAT_SCHEDULE: EVERY_SECOND });
  await worker.untilLogged("run_finished");
  const known = await worker.metric("simcat_last_success_timestamp_seconds");
  // Runs during which no probe queried the database.
  await worker.untilLogged("run_finished", 3);
  proxy.judge = () => "cut before";
  proxy.cutAll();
  const { last_good_run: last } = await worker.untilReadyz(503, "database_unreachable");

  const id = Number(worker.logged("run_finished").at(-1)?.run);
  expect(id).toBeGreaterThanOrEqual(3);
  expect(last).toMatchObject({ id, status: "ok" });
  expect(await worker.metric("simcat_last_success_timestamp_seconds")).toBeGreaterThan(known);
  expect(await worker.metric("simcat_seconds_since_last_success")).toBeGreaterThan(0);
  // The shown age of the copy grows with every second.
  await vi.waitFor(async () => {
    const page = await (await worker.get("/")).text();
    expect(page).toContain("database unreachable");
    expect(page).toContain(`, end of run ${id}, ok`);
    expect(page).toContain(`${id} <small>sync</small>`);
    expect(page).toMatch(/last good run<\/dt><dd><time [^>]*>[^<]*<\/time><small>(?:[3-9]|\d\d) s ago/);
  }, WAIT);
  expect((await worker.get("/healthz")).status).toBe(200);

  // The next due run waits for the database; the ticks in between are not attributed to an active run.
  const missed = () => worker.logged("missed_tick").findLast(({ reason }) => reason === "database");
  await vi.waitFor(() => expect(missed()).toBeDefined(), WAIT);
  expect(missed()).toMatchObject({ level: "warn", reason: "database" });
  expect(await worker.metric('simcat_missed_ticks_total{reason="database"}')).toBeGreaterThan(0);
  proxy.judge = () => "pass";
  await worker.untilReadyz(200);
});

test("/readyz does not wait for the figures, whose tables grow with the copy (fault 93)", async () => {
  const { worker, proxy } = await workerBehindProxy();
  await worker.untilLogged("next_run");
  await vi.waitFor(async () => expect(await worker.metric("simcat_failing_libraries")).toBe(0), WAIT);
  proxy.judge = (statement) => (/library_sync|rejects/.test(statement) ? "black-hole" : "pass");
  // The figures are read again after half a second.
  await vi.waitFor(async () => {
    const asked = performance.now();
    expect((await worker.readyz()).status).toBe(200);
    const took = performance.now() - asked;
    expect(took).toBeLessThan(3_000);
    expect(took).toBeGreaterThan(900);
  }, WAIT);
  expect(await worker.metric("simcat_failing_libraries")).toBe(0);
});

test("an update of the installed files does not affect a running worker (fault 162)", async () => {
  const { environment, service } = await fixture(one);
  const installed = temporaryDirectory();
  cpSync("dist", join(installed, "dist"), { recursive: true });
  cpSync("package.json", join(installed, "package.json"));
  for (const name of ["migrations", "node_modules"]) symlinkSync(resolve(name), join(installed, name));
  const settings = { ...environment, SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: EVERY_SECOND };
  const running = startProgram(process.execPath, [join(installed, "dist/main.js"), "start"], settings);
  await vi.waitFor(() => expect(running.output()).toContain("run_finished"), WAIT);
  for (const name of ["dist", "migrations"]) rmSync(join(installed, name), { recursive: true });
  const { url } = JSON.parse(/^.*worker_started.*$/m.exec(running.output())?.[0] ?? "");
  expect((await fetch(url)).status).toBe(200);
  service.put(library("ann", "B", { scenarios: [2] }));
  await vi.waitFor(
    async () => expect(await (await fetch(`${url}/metrics`)).text()).toContain('{outcome="changed"} 2'),
    WAIT,
  );
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  running.process.kill("SIGTERM");
  expect([0, 143]).toContain((await running.ended).code);
});
