import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { EVERY_SECOND, startWorker } from "../worker/worker-under-test.ts";
import { answers, never, newStateDir, query } from "./keepers.ts";

const settings = { fsync: "off" };
const SOON = { timeout: 20_000, interval: 50 };

async function openSupervised(reports: string[]): Promise<EmbeddedPostgres> {
  const onRestart = (text: string) => void reports.push(text);
  const options = { stateDir: newStateDir(), environment: process.env, settings, onRestart };
  const postgres = await openEmbeddedPostgres(options, never);
  onTestFinished(() => postgres.stop());
  return postgres;
}

function kill(dataDirectory: string): void {
  process.kill(Number.parseInt(readFileSync(join(dataDirectory, "postmaster.pid"), "utf8"), 10), "SIGKILL");
}

test("restarts a killed server under the same URL, and stops it with its client", async () => {
  const reports: string[] = [];
  const { url, dataDirectory, stop } = await openSupervised(reports);
  await query(url, "CREATE TABLE kept AS SELECT 1 AS one");
  kill(dataDirectory);
  await expect.poll(() => reports, SOON).toEqual(["the embedded Postgres had ended and was restarted"]);
  expect(await query(url, "SELECT one FROM kept")).toEqual([{ one: 1 }]);
  await stop();
  expect(await answers(url)).toBe(false);
});

test("reports that another program took the port of a killed server", async () => {
  const reports: string[] = [];
  const { url, dataDirectory } = await openSupervised(reports);
  const port = Number(new URL(url).port);
  const thief = createServer();
  onTestFinished(() => void thief.close());
  kill(dataDirectory);
  await new Promise<void>((resolve) => {
    thief.once("listening", resolve);
    thief.on("error", () => setTimeout(() => thief.listen(port, "127.0.0.1"), 5));
    thief.listen(port, "127.0.0.1");
  });
  await expect
    .poll(() => reports, SOON)
    .toEqual([
      expect.stringMatching(
        `cannot be restarted: another program uses its port ${port} now, .* restart simcat to use it$`,
      ),
    ]);
});

test("a worker logs the URL of its embedded database and continues after the server is killed", async () => {
  const stateDir = newStateDir();
  const { environment } = await fixture([library("ann", "A", { scenarios: [1] })]);
  const embedded = { DATABASE_URL: "", SIMCAT_STATE_DIR: stateDir, SIMCAT_SCHEDULE: EVERY_SECOND };
  const worker = startWorker({ ...environment, ...embedded });
  await worker.untilLogged("run_finished");
  expect(worker.logged("embedded_database").at(-1)).toMatchObject({
    level: "info",
    msg: expect.stringMatching(
      /^the embedded database is at postgres:\/\/simcat:\*\*\*@127\.0\.0\.1:\d+\/simcat; simcat db prints its password/,
    ),
  });
  kill(join(stateDir, "postgres", "data"));
  await expect
    .poll(() => worker.logged("embedded_database").at(-1), SOON)
    .toMatchObject({ level: "warn", msg: "the embedded Postgres had ended and was restarted" });
  const before = worker.logged("run_finished").length;
  await worker.untilLogged("run_finished", before + 2);
  expect(worker.logged("run_finished").at(-1)).toMatchObject({ status: "ok" });
  await expect.poll(() => worker.readyz(), SOON).toMatchObject({ status: 200, body: { reasons: [] } });
  expect(await worker.stop()).toBe(0);
});
