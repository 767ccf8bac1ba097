import { spawn } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { ConfigurationError, DatabaseError } from "../../src/errors.ts";
import { answers, never, newStateDir, query } from "./keepers.ts";

const settings = { fsync: "off" };

function open(stateDir: string, signal = never) {
  return openEmbeddedPostgres({ stateDir, environment: process.env, settings }, signal);
}

test("creates a database, stops it, and opens the same one again under the same URL", async () => {
  const stateDir = newStateDir();
  const first = await open(stateDir);
  await query(first.url, "CREATE TABLE kept AS SELECT 'ä' AS word");
  await first.stop();
  expect(await answers(first.url)).toBe(false);

  const second = await open(stateDir);
  expect(second).toEqual({ ...first, stop: expect.any(Function) });
  expect(second).toMatchObject({ started: true, psql: `psql '${first.url}'` });
  expect(second.url).toMatch(/^postgres:\/\/simcat:[\w-]{32}@127\.0\.0\.1:\d+\/simcat$/);
  expect(second.dataDirectory).toBe(join(stateDir, "postgres", "data"));
  expect(await query(second.url, "SELECT word FROM kept")).toEqual([{ word: "ä" }]);
  await second.stop();
});

test("is Postgres 18 with UTF-8, a platform-independent collation, and UTC", async () => {
  const postgres = await open(newStateDir());
  const asked = `SELECT datcollate, datctype, datlocprovider, datlocale, pg_encoding_to_char(encoding) AS encoding,
      current_setting('server_version_num')::int / 10000 AS version, current_setting('TimeZone') AS zone, current_user AS role
    FROM pg_database WHERE datname = current_database()`;
  expect(await query(postgres.url, asked)).toEqual([
    {
      datcollate: "C",
      datctype: "C",
      datlocprovider: "b",
      datlocale: "C.UTF-8",
      encoding: "UTF8",
      version: 18,
      zone: "UTC",
      role: "simcat",
    },
  ]);
  await postgres.stop();
});

test("requires the password, whose file only its owner can read", async () => {
  const stateDir = newStateDir();
  const postgres = await open(stateDir);
  const file = join(stateDir, "postgres", "password");
  expect((statSync(file).mode & 0o777).toString(8)).toBe("600");
  const wrong = postgres.url.replace(readFileSync(file, "utf8"), "wrong");
  await expect(query(wrong, "SELECT 1")).rejects.toThrow('password authentication failed for user "simcat"');
  await postgres.stop();
});

test("runs until both clients of one process have detached", async () => {
  const stateDir = newStateDir();
  const first = await open(stateDir);
  const second = await open(stateDir);
  expect([first.started, second.started]).toEqual([true, false]);
  await first.stop();
  await first.stop();
  expect(await answers(second.url)).toBe(true);
  await second.stop();
  expect(await answers(second.url)).toBe(false);
});

test("reports a refused configuration in the words of Postgres", async () => {
  const stateDir = newStateDir();
  await (await open(stateDir)).stop();
  appendFileSync(join(stateDir, "postgres/data/postgresql.conf"), "\nshared_buffers = plenty\n");
  const failure = await open(stateDir).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DatabaseError);
  expect(String(failure)).toContain('invalid value for parameter "shared_buffers": "plenty"');
});

test("refuses data of another major version of Postgres", async () => {
  const stateDir = newStateDir();
  await (await open(stateDir)).stop();
  writeFileSync(join(stateDir, "postgres/data/PG_VERSION"), "17\n");
  const failure = await open(stateDir).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect(String(failure)).toContain(
    "was created by Postgres 17, but this simcat contains Postgres 18; set SIMCAT_STATE_DIR",
  );
});

test("names SIMCAT_STATE_DIR if the directory is not writable", async () => {
  const stateDir = newStateDir();
  writeFileSync(stateDir, "a file");
  const failure = await open(join(stateDir, "below")).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConfigurationError);
  expect(String(failure)).toContain("set SIMCAT_STATE_DIR to a writable directory");
});

test("leaves no files if it is aborted during initdb", async () => {
  const stateDir = newStateDir();
  const abort = new AbortController();
  const opening = open(stateDir, abort.signal);
  await expect.poll(() => readdirSync(stateDir).some((name) => name.startsWith("draft-"))).toBe(true);
  abort.abort(new Error("enough"));
  await expect(opening).rejects.toThrow("enough");
  expect(readdirSync(stateDir)).toEqual([]);
});

test("starts although the lock file of a crashed server names an unrelated live process", async () => {
  const stateDir = newStateDir();
  const postgres = await open(stateDir);
  const file = join(postgres.dataDirectory, "postmaster.pid");
  const left = readFileSync(file, "utf8");
  await postgres.stop();
  // That process runs as the server's user, because Postgres ignores processes that it may not signal.
  const { uid, gid } = statSync(postgres.dataDirectory);
  const stranger = spawn("sleep", ["60"], { uid, gid });
  onTestFinished(() => void stranger.kill());
  writeFileSync(file, left.replace(/^\d+/, String(stranger.pid)));
  const again = await open(stateDir);
  expect(again.started).toBe(true);
  await again.stop();
});
