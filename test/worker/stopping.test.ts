import { once } from "node:events";
import { connect } from "node:net";
import { expect, test, vi } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { startWorker, WAIT, YEARLY } from "./worker-under-test.ts";

const two = [library("ann", "A", { scenarios: [1] }), library("ann", "B", { scenarios: [2] })];
const worker = { SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: YEARLY };

test("SIGTERM ends an idle worker with 0, even if a client reads nothing", async () => {
  const { start } = await fixture(two);
  const running = start(["start"], worker);
  await vi.waitFor(() => expect(running.output()).toContain("next_run"), WAIT);
  const { port, hostname } = new URL(/"url":"([^"]+)"/.exec(running.output())?.[1] ?? "");
  const idle = connect(Number(port), hostname, () => idle.write("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "));
  idle.on("error", () => {});
  await once(idle, "connect");
  const asked = performance.now();
  running.process.kill("SIGTERM");
  const { code, stderr } = await running.ended;
  expect(code).toBe(0);
  expect(performance.now() - asked).toBeLessThan(10_000);
  expect(stderr).toContain('"code":"worker_stopped"');
});

test("a signal during a run ends it as interrupted, with what was read stored", async () => {
  const { start, query } = await fixture(two, {
    faults: [{ match: { library: "B" }, times: "always", action: { kind: "hang" } }],
  });
  const running = start(["start"], worker);
  // One library is read and stored, the other one never answers.
  await vi.waitFor(async () => expect(await query("SELECT 1 FROM simcat.scenarios")).toHaveLength(1), WAIT);
  running.process.kill("SIGTERM");
  expect((await running.ended).code).toBe(143);
  expect(await query("SELECT status, trigger, finished_at IS NOT NULL AS ended FROM simcat.sync_runs")).toEqual([
    { status: "interrupted", trigger: "schedule", ended: true },
  ]);
  expect(await query("SELECT library_name FROM simcat.libraries")).toEqual([{ library_name: "A" }]);
  expect(await query("SELECT 1 FROM simcat.leases WHERE expires_at > now()")).toEqual([]);
});

test("a wrong schedule is a configuration error at start, before any request or write", async () => {
  const { environment, service, query } = await fixture(two);
  const { ended } = startWorker({ ...environment, SIMCAT_SCHEDULE: "0 0 30 2 *" });
  await expect(ended).rejects.toMatchObject({ exitCode: 78, message: expect.stringContaining("SIMCAT_SCHEDULE") });
  expect(service.requests).toEqual([]);
  expect(await query("SELECT 1 FROM simcat.sync_runs")).toEqual([]);
});
