import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { answers, never, newStateDir, query, startKeeper } from "./keepers.ts";

const settings = { fsync: "off" };

test("the last of two client processes stops the server, the first does not", async () => {
  const stateDir = newStateDir();
  const first = startKeeper(stateDir);
  const { url } = await first.opened;
  const second = startKeeper(stateDir);
  expect(await second.opened).toMatchObject({ url, started: false });
  expect(await first.stop()).toBe(0);
  expect(await answers(url)).toBe(true);
  expect(await second.stop()).toBe(0);
  expect(await answers(url)).toBe(false);
});

test("two processes that start at once on a fresh directory share one server", async () => {
  const stateDir = newStateDir();
  const both = [startKeeper(stateDir), startKeeper(stateDir)];
  const [one, other] = await Promise.all(both.map((keeper) => keeper.opened));
  expect(one?.url).toBe(other?.url);
  expect([one?.started, other?.started].sort()).toEqual([false, true]);
  expect(await Promise.all(both.map((keeper) => keeper.stop()))).toEqual([0, 0]);
});

test("the server survives the killed process that started it while another client is attached", async () => {
  const stateDir = newStateDir();
  const starter = startKeeper(stateDir);
  const { url } = await starter.opened;
  const attached = startKeeper(stateDir);
  await attached.opened;
  const session = query(url, "SELECT pg_sleep(2.5), 'whole' AS answer");
  await starter.kill();
  // The query takes longer than the watchdog's interval.
  expect(await session).toMatchObject([{ answer: "whole" }]);
  expect(await attached.stop()).toBe(0);
  expect(await answers(url)).toBe(false);
});

test("the data of a killed single client is found by the next one", async () => {
  const stateDir = newStateDir();
  const killed = startKeeper(stateDir);
  const { url } = await killed.opened;
  await query(url, "CREATE TABLE kept AS SELECT 1 AS one");
  await killed.kill();
  const next = await openEmbeddedPostgres({ stateDir, environment: process.env, settings }, never);
  expect(await query(next.url, "SELECT one FROM kept")).toEqual([{ one: 1 }]);
  await next.stop();
  expect(await answers(next.url)).toBe(false);
});

test("the watchdog stops a server after all its clients were killed", async () => {
  const keeper = startKeeper(newStateDir());
  const { url } = await keeper.opened;
  await keeper.kill();
  await expect.poll(() => answers(url), { timeout: 10_000 }).toBe(false);
});

test("a process killed during initdb leaves no partial cluster", async () => {
  const stateDir = newStateDir();
  const keeper = startKeeper(stateDir);
  keeper.opened.catch(() => {});
  await expect.poll(() => firstDraft(stateDir)?.includes("PG_VERSION"), { interval: 5, timeout: 10_000 }).toBe(true);
  await keeper.kill();
  const healed = await openEmbeddedPostgres({ stateDir, environment: process.env, settings }, never);
  expect(await query(healed.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  await healed.stop();
  expect(readdirSync(stateDir)).toEqual(["postgres"]);
});

test("the next client starts a killed server again", async () => {
  const stateDir = newStateDir();
  const first = await openEmbeddedPostgres({ stateDir, environment: process.env, settings }, never);
  await query(first.url, "CREATE TABLE kept AS SELECT 1 AS one");
  process.kill(Number.parseInt(readFileSync(join(first.dataDirectory, "postmaster.pid"), "utf8"), 10), "SIGKILL");
  const second = await openEmbeddedPostgres({ stateDir, environment: process.env, settings }, never);
  expect(second.started).toBe(true);
  expect(await query(second.url, "SELECT one FROM kept")).toEqual([{ one: 1 }]);
  await first.stop();
  await second.stop();
});

function firstDraft(stateDir: string): string[] | null {
  try {
    const draft = readdirSync(stateDir).find((name) => name.startsWith("draft-"));
    return draft === undefined ? null : readdirSync(join(stateDir, draft, "data"));
  } catch {
    return null;
  }
}
