import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signalServer } from "../support/embedded-server.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { EVERY_SECOND, startWorker } from "../worker/worker-under-test.ts";
import { newStateDir } from "./keepers.ts";

test("a worker logs the URL of its embedded database, and its next run starts a killed server again", async () => {
  const stateDir = newStateDir();
  const { environment } = await fixture([library("ann", "A", { scenarios: [1] })]);
  const embedded = { DATABASE_URL: "", SIMCAT_STATE_DIR: stateDir, SIMCAT_SCHEDULE: EVERY_SECOND };
  const worker = startWorker({ ...environment, ...embedded });
  await worker.untilLogged("run_finished");
  expect(worker.logged("embedded_database").at(-1)).toMatchObject({
    level: "info",
    msg: expect.stringMatching(
      /^the embedded database is at postgres:\/\/simcat_reader:\*\*\*@127\.0\.0\.1:\d+\/simcat, for trials .*; simcat db prints its password/,
    ),
  });
  signalServer(join(stateDir, "postgres", "data"), "SIGKILL");
  const messages = () => worker.logged("embedded_database").map(({ msg }) => msg);
  // A run that is in progress waits half a minute for its database.
  await expect.poll(messages, { timeout: 100_000 }).toContain("the embedded Postgres has ended; starting it again");
  const before = worker.logged("run_finished").length;
  await worker.untilLogged("run_finished", before + 2);
  expect(worker.logged("run_finished").at(-1)).toMatchObject({ status: "ok" });
  await expect.poll(() => worker.readyz()).toMatchObject({ status: 200, body: { reasons: [] } });
  await worker.stop();
  expect(existsSync(join(stateDir, "postgres", "data", "postmaster.pid"))).toBe(false);
});
