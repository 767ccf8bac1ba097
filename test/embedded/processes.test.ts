import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startCli } from "../support/cli.ts";
import { signalServer } from "../support/embedded-server.ts";
import { answers, never, newStateDir, openHere, query, sharedStateDir, startKeeper } from "./keepers.ts";

const stateDir = sharedStateDir();

test.each(["stop", "kill"] as const)(
  "the server outlives the %s of its starter, and the last client stops it",
  async (end) => {
    const first = startKeeper(stateDir);
    const { url } = await first.opened;
    const second = startKeeper(stateDir);
    expect(await second.opened).toMatchObject({ url, started: false });
    await first[end]();
    expect(await answers(url)).toBe(true);
    expect(await second.stop()).toBe(0);
    expect(await answers(url)).toBe(false);
  },
);

test("Ctrl-C ends simcat db, and the server of another process runs on, as it says (fault 197)", async () => {
  const { url } = await startKeeper(stateDir).opened;
  const { process, output, ended } = startCli(["db"], { SIMCAT_STATE_DIR: stateDir });
  await expect.poll(output).toContain("Ctrl-C stops the server unless another simcat uses it");
  process.kill("SIGINT");
  expect((await ended).code).toBe(0);
  expect(await answers(url)).toBe(true);
});

test("two processes that start at once on a fresh directory share one server", async () => {
  const stateDir = newStateDir();
  const both = [startKeeper(stateDir), startKeeper(stateDir)];
  const [one, other] = await Promise.all(both.map((keeper) => keeper.opened));
  expect(one?.url).toBe(other?.url);
  expect([one?.started, other?.started].sort()).toEqual([false, true]);
  expect(await Promise.all(both.map((keeper) => keeper.stop()))).toEqual([0, 0]);
});

test("a process killed during initdb leaves no partial cluster", async () => {
  const stateDir = newStateDir();
  const keeper = startKeeper(stateDir);
  keeper.opened.catch(() => {});
  await expect.poll(() => firstDraft(stateDir)?.includes("PG_VERSION"), { interval: 5, timeout: 60_000 }).toBe(true);
  await keeper.kill();
  const healed = await openHere(stateDir);
  expect(await query(healed.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await healed.stop();
});

test("a draft into which a program of a killed process still writes prevents no start (fault 197)", async () => {
  const stateDir = newStateDir();
  const data = join(stateDir, "draft-of-a-killed-process", "data");
  mkdirSync(data, { recursive: true });
  const writer = spawn("sh", ["-c", 'cd "$0"; while : > "file$$"; do :; done 2>/dev/null', data]);
  onTestFinished(() => void writer.kill());
  await expect.poll(() => readdirSync(data), { interval: 5 }).not.toEqual([]);

  const opened = await openHere(stateDir);
  await opened.stop();
  expect(readdirSync(stateDir)).toContain("postgres");
});

test("a client starts a killed server again under the same URL, and another one attaches", async () => {
  const first = await openHere(stateDir);
  await query(first.url, "CREATE TABLE kept AS SELECT 1 AS one");
  signalServer(first.dataDirectory, "SIGKILL");
  const restart = async () => {
    await first.ensureRunning(never);
    return answers(first.url);
  };
  await expect.poll(restart).toBe(true);
  const second = await openHere(stateDir);
  expect(second).toMatchObject({ started: false, url: first.url });
  await first.stop();
  expect(await query(second.url, "SELECT one FROM kept")).toEqual([{ one: 1 }]);
  await second.stop();
  expect(await answers(first.url)).toBe(false);
});

test.runIf(process.platform === "linux")("a copy of a running server's files gets a server of its own", async () => {
  const original = await openHere(stateDir);
  cpSync(stateDir, `${stateDir}-copy`, { recursive: true });
  const { uid, gid } = statSync(original.dataDirectory);
  execFileSync("chown", ["-R", `${uid}:${gid}`, join(`${stateDir}-copy`, "postgres", "data")]);
  const copy = await openHere(`${stateDir}-copy`);
  expect(copy).toMatchObject({ started: true, url: expect.not.stringContaining(original.url) });
  await copy.stop();
  expect(await answers(original.url)).toBe(true);
  await original.stop();
});

test("a client reports that another program took the port of a killed server", async () => {
  const postgres = await openHere(stateDir);
  const port = Number(new URL(postgres.url).port);
  const thief = createServer();
  onTestFinished(() => void thief.close());
  signalServer(postgres.dataDirectory, "SIGKILL");
  const listen = () => once(thief.listen(port, "127.0.0.1"), "listening");
  await expect.poll(() => listen().then(Boolean, () => false)).toBe(true);
  const restart = () => postgres.ensureRunning(never).catch(String);
  await expect.poll(restart).toContain(`another program uses port ${port} of the embedded Postgres`);
  await expect(postgres.ensureRunning(never)).rejects.toThrow("restart simcat to use it");
  await postgres.stop();
});

function firstDraft(stateDir: string): string[] | null {
  try {
    const draft = readdirSync(stateDir).find((name) => name.startsWith("draft-"));
    return draft === undefined ? null : readdirSync(join(stateDir, draft, "data"));
  } catch {
    return null;
  }
}
