import { chmodSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { API_KEY, fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const one = () => [library("alice", "Fire", { scenarios: [1] })];

test.each([
  [{ SIMCAT_API_KEY: "s3cret-canary\nx-forged: 1" }, "SIMCAT_API_KEY has a line break"],
  [{ SIMCAT_BASE_URL: "https://user:s3cret-canary@127.0.0.1/" }, "SIMCAT_BASE_URL has a user name or password in it"],
])("%j is refused at the start with 78, without an echo or a request (faults 105, 106)", async (settings, reason) => {
  const { call, asked, query } = await fixture(one());
  const { code, stdout, stderr } = await call(["sync"], settings);
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining(reason) });
  expect(stdout + stderr).not.toContain("s3cret");
  expect(asked()).toEqual([]);
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([]);
});

test("SIMCAT_ALLOW_HTTP=true allows plain http to another host, and nothing else (fault 106)", async () => {
  const { call, service, query } = await fixture(one(), { host: "0.0.0.0" });
  // This machine, by an address that is not loopback.
  expect(new URL(service.url).hostname).toBe("0.0.0.0");

  expect((await call(["sync"], { SIMCAT_ALLOW_HTTP: "false" })).code).toBe(78);
  expect(service.requests).toEqual([]);
  expect((await call(["sync"], { SIMCAT_ALLOW_HTTP: "true" })).code).toBe(0);
  expect(await query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
});

test.each([
  ["SIMCAT_API_KEY", 0o644, true],
  ["SIMCAT_API_KEY", 0o600, false],
  ["DATABASE_URL", 0o644, true],
  ["SIMCAT_CONCURRENCY", 0o644, false],
] as const)("a .env file with %s and the mode %o causes a warning: %s (fault 172)", async (name, mode, isWarned) => {
  const { environment } = await fixture([]);
  const directory = realpathSync(temporaryDirectory());
  const { [name]: value = "5", ...others }: Record<string, string> = environment;
  const file = join(directory, ".env");
  writeFileSync(file, `${name}=${value}\n`);
  chmodSync(file, mode);
  const text = `other users can read the secrets in ${file}`;
  for (const command of ["migrate", "sync"]) {
    const { code, stderr } = await startProgram(process.execPath, [MAIN, command], others, { cwd: directory }).ended;
    const lines = stderr.split("\n").filter((line) => line.includes("dotenv_exposed"));
    expect({ command, code, warned: lines.length }).toEqual({ command, code: 0, warned: isWarned ? 1 : 0 });
    if (isWarned) {
      const warning = { level: "warn", code: "dotenv_exposed", msg: `${text}; run chmod 600 ${file}` };
      expect(JSON.parse(lines[0] ?? "")).toMatchObject(warning);
    }
  }
  const { stdout } = await startProgram(process.execPath, [MAIN, "check", "--json"], others, { cwd: directory }).ended;
  const found = JSON.parse(stdout).filter((line: { text: string }) => line.text === text);
  expect(found).toHaveLength(isWarned ? 1 : 0);
});

test("a .env file in the working directory is read; the environment overrides it (fault 68)", async () => {
  const { environment, query } = await fixture(one());
  const directory = temporaryDirectory();
  const { SIMCAT_BASE_URL = "", DATABASE_URL = "" } = environment;
  writeFileSync(
    join(directory, ".env"),
    `# as an operator writes it\nSIMCAT_BASE_URL="${SIMCAT_BASE_URL}"\nexport SIMCAT_API_KEY='${API_KEY}'\nDATABASE_URL=${DATABASE_URL}\nSIMCAT_CONCURRENCY=nonsense\n`,
  );
  const simcat = (more: Readonly<Record<string, string>>) =>
    startProgram(process.execPath, [MAIN, "sync"], more, { cwd: directory }).ended;

  const refused = await simcat({});
  const good = await simcat({ SIMCAT_CONCURRENCY: "3" });

  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain('SIMCAT_CONCURRENCY is \\"nonsense\\"; expected a whole number from 1 to 1024');
  expect({ code: good.code, stderr: good.code === 0 ? "" : good.stderr }).toEqual({ code: 0, stderr: "" });
  expect(await query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
});
