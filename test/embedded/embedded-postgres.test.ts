import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { DatabaseError } from "../../src/errors.ts";
import { answers, never, newStateDir, openHere, query, sharedStateDir } from "./keepers.ts";

describe("a database that was stopped", () => {
  const stateDir = sharedStateDir();
  let first: EmbeddedPostgres;
  beforeAll(async () => {
    first = await openHere(stateDir);
    await query(first.url, "CREATE TABLE simcat.kept AS SELECT generate_series(1, 1000) AS id");
    await first.stop();
  });
  const isKept = async ({ url }: EmbeddedPostgres) =>
    expect(await query(url, "SELECT count(*)::int FROM simcat.kept")).toEqual([{ count: 1000 }]);

  test("is opened again under the same URL, with the planner's statistics (fault 275)", async () => {
    expect(await answers(first.url)).toBe(false);
    const second = await openHere(stateDir);
    expect(first.created).toBe(true);
    const functions = { ensureRunning: expect.any(Function), stop: expect.any(Function) };
    expect(second).toEqual({ ...first, created: false, ...functions });
    expect(second.started).toBe(true);
    expect(second.url).toMatch(/^postgres:\/\/simcat:[\w-]{32}@127\.0\.0\.1:\d+\/simcat$/);
    expect(second.dataDirectory).toBe(join(stateDir, "postgres", "data"));
    await isKept(second);
    // They are taken before the stop, because autovacuum is too late.
    const asked = "SELECT reltuples FROM pg_class WHERE oid = 'simcat.kept'::regclass";
    expect(await query(second.url, asked)).toEqual([{ reltuples: 1000 }]);
    await second.stop();
  });

  test("starts although the lock file of a crashed server names an unrelated live process", async () => {
    const postgres = await openHere(stateDir);
    const file = join(postgres.dataDirectory, "postmaster.pid");
    const left = readFileSync(file, "utf8");
    await postgres.stop();
    // That process runs as the server's user, because Postgres ignores processes that it may not signal.
    const { uid, gid } = statSync(postgres.dataDirectory);
    const stranger = spawn("sleep", ["600"], { uid, gid });
    onTestFinished(() => void stranger.kill());
    writeFileSync(file, left.replace(/^\d+/, String(stranger.pid)));
    const again = await openHere(stateDir);
    expect(again.started).toBe(true);
    await again.stop();
  });

  test.each(["password", "pgpass"])("gets new passwords if the file %s is missing (fault 300)", async (name) => {
    const before = await openHere(stateDir);
    await before.stop();
    rmSync(join(stateDir, "postgres", name));

    const second = await openHere(stateDir);

    expect(new URL(second.url).password).not.toBe(new URL(before.url).password);
    expect(new URL(second.readerUrl).password).not.toBe(new URL(before.readerUrl).password);
    await isKept(second);
    expect(await query(second.readerUrl, "SELECT current_user::text AS role")).toEqual([{ role: "simcat_reader" }]);
    await second.stop();
  });

  test("reports a refused configuration in the words of Postgres", async () => {
    appendFileSync(join(stateDir, "postgres/data/postgresql.conf"), "\nshared_buffers = plenty\n");
    const failure = await openHere(stateDir).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DatabaseError);
    expect(String(failure)).toContain('invalid value for parameter "shared_buffers": "plenty"');
    expect(String(failure)).toContain("set DATABASE_URL to a Postgres 14 to 18, or SIMCAT_STATE_DIR");
  });
});

describe("a new database", () => {
  const stateDir = join(sharedStateDir(), "an odd & 'quoted' $path ü");
  let postgres: EmbeddedPostgres;
  beforeAll(async () => {
    const environment = { PATH: process.env.PATH, SIMCAT_API_KEY: "key-of-the-tests", PGOPTIONS: "-c work_mem=64kB" };
    postgres = await openEmbeddedPostgres({ stateDir, environment, settings: { fsync: "off" } }, never);
    await migrate(postgres.url, never);
  });
  afterAll(() => postgres.stop());

  test("is Postgres 18 with UTF-8, a platform-independent collation, and UTC", async () => {
    const asked = `SELECT concat_ws(' ', datcollate, datctype, datlocprovider, datlocale, pg_encoding_to_char(encoding),
        current_setting('server_version_num')::int / 10000, current_setting('TimeZone')) AS made
      FROM pg_database WHERE datname = current_database()`;
    expect(await query(postgres.url, asked)).toEqual([{ made: "C C b C.UTF-8 UTF8 18 UTC" }]);
  });

  test("requires the passwords, whose files only their owner can read", async () => {
    for (const name of ["password", "pgpass"])
      expect((statSync(join(stateDir, "postgres", name)).mode & 0o777).toString(8)).toBe("600");
    const wrong = postgres.url.replace(/:[^:@]+@/, ":wrong@");
    await expect(query(wrong, "SELECT 1")).rejects.toThrow('password authentication failed for user "simcat"');
    await expect(query(wrong.replace("simcat:", "postgres:"), "SELECT 1")).rejects.toThrow("authentication failed");
  });

  test("has an ordinary role simcat that owns it, and a role for people that reads (faults 157, 152)", async () => {
    const asked = `SELECT current_user AS role, rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication AS is_privileged,
        pg_get_userbyid(datdba) AS owner, to_regclass('libraries') = to_regclass('simcat_report.libraries') AS finds_views
      FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`;
    const common = { is_privileged: false, owner: "simcat", finds_views: true };
    const { url, readerUrl } = postgres;
    expect(await query(url, asked)).toEqual([{ role: "simcat", ...common }]);
    expect(await query(readerUrl, asked)).toEqual([{ role: "simcat_reader", ...common }]);
    expect(await query(readerUrl, "SELECT FROM libraries")).toEqual([]);
    await expect(query(readerUrl, "SELECT FROM simcat.libraries")).rejects.toThrow("permission denied");
    for (const one of [url, readerUrl])
      await expect(query(one, "COPY (SELECT 1) TO PROGRAM 'cat'")).rejects.toThrow("permission denied");
  });

  test("prints a psql line that works when it is pasted, and holds no password (fault 157)", () => {
    expect(postgres.psql).not.toContain(new URL(postgres.readerUrl).password);
    const options = { encoding: "utf8", env: { PATH: process.env.PATH } } as const;
    const { stdout, stderr } = spawnSync("/bin/sh", ["-c", `${postgres.psql} -Atc 'SELECT current_user'`], options);
    expect({ stdout, stderr }).toEqual({ stdout: "simcat_reader\n", stderr: "" });
  });

  test.runIf(process.platform === "linux")("inherits no secret from simcat's environment (fault 157)", () => {
    const pid = Number.parseInt(readFileSync(join(postgres.dataDirectory, "postmaster.pid"), "utf8"), 10);
    const inherited = readFileSync(`/proc/${pid}/environ`, "utf8");
    expect(inherited).toContain("PGDATA=");
    expect(inherited).not.toMatch(/SIMCAT|PGOPTIONS/);
  });
});

test("leaves no files if it is aborted during initdb", async () => {
  const stateDir = newStateDir();
  const abort = new AbortController();
  const opening = openHere(stateDir, abort.signal);
  await expect.poll(() => readdirSync(stateDir).some((name) => name.startsWith("draft-"))).toBe(true);
  abort.abort(new Error("enough"));
  await expect(opening).rejects.toThrow("enough");
  expect(readdirSync(stateDir)).toEqual(["lock-name"]);
});
