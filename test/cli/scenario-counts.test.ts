import { expect, test } from "vitest";
import { holdLocks } from "../postgres/sessions.ts";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { startWorker } from "../worker/worker-under-test.ts";

test("neither status nor the worker's routes read the scenarios table (fault 111)", async () => {
  const made = await syncedFixture([
    library("ann", "Lake", { scenarios: [1, 2, 3, 4, 5] }),
    library("bo", "Fire", { scenarios: [1] }),
  ]);
  const worker = startWorker(made.environment);
  await worker.untilLogged("next_run");
  // From here on, any reader of the table waits for the lock.
  const holder = await holdLocks(made.database, "LOCK TABLE simcat.scenarios, simcat.scenario_history");
  const { stdout } = await made.call(["status", "--json"]);
  expect(JSON.parse(stdout).scenarios.live).toBe(6);
  expect((await worker.readyz()).status).toBe(200);
  expect(await (await worker.get("/")).text()).toMatch(/scenarios<\/dt><dd>6</);
  expect(await worker.metric("simcat_open_rejects")).toBe(0);
  await holder.query("ROLLBACK");
});
