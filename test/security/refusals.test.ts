import { chmodSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEnvironment } from "../../src/config/environment.ts";
import { logLines } from "../faults/run-results.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { API_KEY, fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const one = () => [library("alice", "Fire", { scenarios: [1] })];

test("SIMCAT_ALLOW_HTTP=true allows plain http to another host, and nothing else (fault 106)", async () => {
  const { call, service, lines } = await fixture(one(), { host: "0.0.0.0" });
  // This machine, by an address that is not loopback.
  expect(new URL(service.url).hostname).toBe("0.0.0.0");

  expect((await call(["sync"], { SIMCAT_ALLOW_HTTP: "false" })).code).toBe(78);
  expect(service.requests).toEqual([]);
  expect((await call(["sync"], { SIMCAT_ALLOW_HTTP: "true" })).code).toBe(0);
  expect(await lines("SELECT owner FROM simcat.libraries")).toEqual(["alice"]);
});

test.each([
  ["SIMCAT_API_KEY=a-key-of-16-chars", 0o644, true],
  ["SIMCAT_API_KEY=a-key-of-16-chars", 0o640, true],
  ["SIMCAT_API_KEY=a-key-of-16-chars", 0o600, false],
  ["DATABASE_URL=postgres://ann:a-password@host/db", 0o644, true],
  ["SIMCAT_CONCURRENCY=5", 0o644, false],
])("a .env file with %s and the mode %o exposes a secret: %s (fault 172)", (line, mode, isExposed) => {
  const directory = temporaryDirectory();
  const file = join(directory, ".env");
  writeFileSync(file, `${line}\n`);
  chmodSync(file, mode);
  expect(readEnvironment({}, directory).exposedDotenv).toBe(isExposed ? file : undefined);
});

test("a .env file in the working directory is read, overridden, and its exposure reported (faults 68, 172)", async () => {
  const { environment, lines } = await fixture(one());
  const directory = realpathSync(temporaryDirectory());
  const file = join(directory, ".env");
  const { SIMCAT_BASE_URL = "", DATABASE_URL = "" } = environment;
  writeFileSync(
    file,
    `# as an operator writes it\nSIMCAT_BASE_URL="${SIMCAT_BASE_URL}"\nexport SIMCAT_API_KEY='${API_KEY}'\nDATABASE_URL=${DATABASE_URL}\nSIMCAT_CONCURRENCY=nonsense\n`,
  );
  chmodSync(file, 0o644);
  const simcat = (args: readonly string[], more: Readonly<Record<string, string>> = { SIMCAT_CONCURRENCY: "3" }) =>
    startProgram(process.execPath, [MAIN, ...args], more, { cwd: directory }).ended;

  const refused = await simcat(["sync"], {});
  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain('SIMCAT_CONCURRENCY is \\"nonsense\\"; expected a whole number from 1 to 1024');

  const text = `other users can read the secrets in ${file}`;
  for (const command of ["migrate", "sync"]) {
    const ended = await simcat([command]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(logLines(ended).filter(({ code }) => code === "dotenv_exposed")).toMatchObject([
      { level: "warn", msg: `${text}; run chmod 600 ${file}` },
    ]);
  }
  expect(await lines("SELECT owner FROM simcat.libraries")).toEqual(["alice"]);
  const { stdout } = await simcat(["check", "--json"]);
  expect(JSON.parse(stdout).filter((line: { text: string }) => line.text === text)).toHaveLength(1);
});
