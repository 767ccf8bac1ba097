import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { organizationOf } from "../../src/mock/organization.ts";
import { callCli } from "../support/call-cli.ts";
import { type Ended, MAIN, startProgram } from "../support/cli.ts";
import { useTestDatabase } from "../support/database.ts";
import { startMockService } from "../support/mock/mock-service.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const KEY = "key-of-the-service";
const database = useTestDatabase();
let baseUrl: string;
let directory: string;

beforeEach(async () => {
  const organization = organizationOf([library("ann", "forest", { scenarios: [1] })]);
  const mock = await startMockService({ organization, apiKey: KEY });
  baseUrl = mock.url;
  directory = temporaryDirectory();
  return () => mock.stop();
});

const file = () => join(directory, ".env");
const options = (key = KEY) => ["--base-url", baseUrl, "--api-key", key, "--database-url", database().url];

const PRETTY = { SIMCAT_LOG_FORMAT: "pretty" };

/** Runs it in this process, without a terminal. */
async function init(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const before = process.cwd();
  process.chdir(directory);
  return callCli(["init", ...args], { ...PRETTY, ...environment }).finally(() => process.chdir(before));
}

describe("without a terminal", () => {
  test("tests what the options give, and writes a file that only its owner reads", async () => {
    const args = [MAIN, "init", ...options()];
    const { code, stdout, stderr } = await startProgram(process.execPath, args, PRETTY, { cwd: directory }).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^ok {4}service .*\nok {4}key .*\n[\s\S]*\nok {4}database [\s\S]*\nwrote .*\nnext: node \S+ backfill\n$/,
    );
    expect(stdout).not.toContain(KEY);
    expect(readFileSync(file(), "utf8")).toBe(
      `SIMCAT_BASE_URL=${baseUrl}\nSIMCAT_API_KEY=${KEY}\nDATABASE_URL=${database().url}\n`,
    );
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test("--quiet prints nothing if all is well, otherwise what is wrong (fault 271)", async () => {
    const stdout = expect.stringContaining("FAIL  key");
    expect(await init(["--quiet", ...options("another-key")])).toMatchObject({ code: 77, stdout });
    expect(await init(["--quiet", ...options()])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("takes settings of the environment, leaves those in files there, and needs no database", async () => {
    const keyFile = join(directory, "key");
    writeFileSync(keyFile, KEY);
    const state = { SIMCAT_STATE_DIR: join(directory, "state") };
    expect(await init([], { SIMCAT_BASE_URL: baseUrl, SIMCAT_API_KEY_FILE: keyFile, ...state })).toMatchObject({
      code: 0,
    });
    expect(readFileSync(file(), "utf8")).toBe(`SIMCAT_BASE_URL=${baseUrl}\n`);
  });

  test.each([
    ["a wrong key", () => options("another-key"), 77, /^ok {4}service .*\nFAIL {2}key .*check SIMCAT_API_KEY/],
    [
      "no URL",
      () => ["--base-url", "nonsense", "--api-key", KEY],
      78,
      /^FAIL {2}configuration {2}SIMCAT_BASE_URL is not a URL/,
    ],
    [
      "an unreachable database",
      () => [...options().slice(0, 4), "--database-url", "postgres://a:secret-word@127.0.0.1:1/x"],
      69,
      /^ok {4}service [\s\S]*\nFAIL {2}database .*ECONNREFUSED/,
    ],
    [
      "neither URL nor key",
      () => [],
      64,
      /^simcat: SIMCAT_BASE_URL and SIMCAT_API_KEY are not set, and .*; give --base-url and --api-key\n$/,
    ],
    ["no key", () => ["--base-url", baseUrl], 64, /^simcat: SIMCAT_API_KEY is not set, and .*; give --api-key\n$/],
  ])("writes nothing after %s", async (_, args, code, message) => {
    const ended = await init(args());
    expect(ended.code).toBe(code);
    expect(ended.stdout + ended.stderr).toMatch(message);
    expect(ended.stdout).not.toContain("secret-word");
    expect(() => statSync(file())).toThrow("ENOENT");
  });

  test("changes an existing file only with --force, and then replaces both forms of a secret (fault 224)", async () => {
    const before =
      "# ours\nSIMCAT_CONCURRENCY=4\nexport SIMCAT_API_KEY=old-key-of-ours\nDATABASE_URL='postgres://old'\n" +
      "SIMCAT_API_KEY_FILE=/nowhere/key\nDATABASE_URL_FILE=/nowhere/url\n";
    writeFileSync(file(), before, { mode: 0o644 });
    expect(await init(options())).toMatchObject({ code: 64, stderr: expect.stringContaining("--force replaces") });
    expect(readFileSync(file(), "utf8")).toBe(before);

    const args = [MAIN, "init", ...options().slice(0, 4), "--database-url", "", "--force"];
    const { ended } = startProgram(process.execPath, args, { SIMCAT_STATE_DIR: directory }, { cwd: directory });
    expect((await ended).code).toBe(0);
    expect(readFileSync(file(), "utf8")).toBe(
      `# ours\nSIMCAT_CONCURRENCY=4\nSIMCAT_BASE_URL=${baseUrl}\nSIMCAT_API_KEY=${KEY}\n`,
    );
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });
});

test("keeps values of several lines, writes through a link, and takes a byte order mark for none (fault 224)", async () => {
  const real = join(directory, "real.env");
  const note = 'NOTE="first\nDATABASE_URL=inside\nlast"\n';
  writeFileSync(real, `\ufeffSIMCAT_API_KEY="old\nsecond-line"\nA=é\n${note}B=2\n`);
  symlinkSync(real, file());
  expect(await init([...options(), "--force"])).toMatchObject({ code: 0 });
  expect(readFileSync(real, "utf8")).toBe(
    `A=é\n${note}B=2\nSIMCAT_BASE_URL=${baseUrl}\nSIMCAT_API_KEY=${KEY}\nDATABASE_URL=${database().url}\n`,
  );
  expect(statSync(real).mode & 0o777).toBe(0o600);
});

describe("on a terminal", () => {
  /** Runs it on a pseudo-terminal. `type` waits until the output ends with a question. */
  function start(more: Readonly<Record<string, string>> = {}, options = "") {
    const command = `${process.execPath} ${MAIN} init ${options}`;
    const environment = { SIMCAT_STATE_DIR: join(directory, "state"), TERM: "xterm", ...more };
    const running = startProgram("script", ["-qec", command, "/dev/null"], environment, {
      cwd: directory,
      stdio: ["pipe", "pipe", "pipe"],
    });
    onTestFinished(() => void running.process.stdin?.destroy());
    const type = async (question: string, text: string) => {
      const asked = new RegExp(`${question}[^\\n]*: $`);
      await vi.waitFor(() => expect(stripVTControlCharacters(running.output())).toMatch(asked), 20_000);
      running.process.stdin?.write(text);
    };
    return { running, type };
  }

  test.each(["Ctrl-C", "Ctrl-D"])("ends at %s without a file, also while it hides what is typed", async (key) => {
    for (const end of ["visible", "hidden"]) {
      const { running, type } = start();
      if (end === "hidden") await type("Base URL of the service", `${baseUrl}\r`);
      await type(end === "hidden" ? "API key" : "Base URL", key === "Ctrl-C" ? "\u0003" : "\u0004");
      const stdout = expect.stringMatching(/\nsimcat: stopped by SIGINT\r\n$/);
      expect(await running.ended).toMatchObject({ code: 130, stdout });
      expect(() => statSync(file())).toThrow("ENOENT");
    }
  });

  test("ends if the database of a file cannot be reached, because nothing is left to ask (fault 224)", async () => {
    const urlFile = join(directory, "url");
    writeFileSync(urlFile, "postgres://a:secret-word@127.0.0.1:1/x");
    const settings = { SIMCAT_BASE_URL: baseUrl, SIMCAT_API_KEY: KEY, DATABASE_URL_FILE: urlFile };
    const stdout = expect.stringMatching(/^(?=[\s\S]*database .*ECONNREFUSED)(?!.*secret-word)/);
    expect(await start(settings).running.ended).toMatchObject({ code: 69, stdout });
  });

  test.each([
    ["two of the environment", { SIMCAT_CONCURRENCY: "abc", SIMCAT_MAX_RPS: "0" }, "", ["CONCURRENCY", "MAX_RPS"]],
    ["the database's", { DATABASE_URL: "mysql://a:secret-word@b/c" }, "", ["DATABASE_URL"]],
    ["an option", {}, "--base-url nonsense", ["BASE_URL"]],
    ["Node's", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }, "", ["NODE_TLS_REJECT_UNAUTHORIZED"]],
    ["a line of .env", {}, "--force", ["FULL_EVERY"]],
  ])(
    "ends with 78 before the first question if another setting is wrong: %s (fault 224)",
    async (_, more, opt, names) => {
      if (opt === "--force") writeFileSync(file(), "SIMCAT_FULL_EVERY=often\nSIMCAT_API_KEY=short\n", { mode: 0o600 });
      const { code, stdout } = await start(more, opt).running.ended;
      expect(code).toBe(78);
      for (const name of names) expect(stdout).toMatch(new RegExp(`configuration  \\S*${name} is `));
      expect(stdout.match(/configuration/g)).toHaveLength(names.length);
      expect(stdout).not.toMatch(/Base URL of|API key|secret-word/);
    },
  );

  test("asks again after a wrong answer or a failed check, and never shows the key (fault 271)", async () => {
    const { running, type } = start();
    await type("Base URL of the service", "\r");
    await type("Base URL of the service[^:]*: [^:]*Base URL of the service", "ftp://example.com\r");
    await type("SIMCAT_BASE_URL is not an https URL[\\s\\S]*Base URL of the service", `${baseUrl}\r`);
    await type("API key", "short\r");
    await type("SIMCAT_API_KEY is shorter than 8 characters[\\s\\S]*API key", "wrong-key-of-mine\r");
    await type("check SIMCAT_API_KEY[\\s\\S]*Base URL of the service", `${baseUrl}\r`);
    await type("check SIMCAT_API_KEY[\\s\\S]*API key", `${KEY}\r`);
    await type("key {6}the service accepts it[\\s\\S]*Postgres URL", "mysql://a:secret-word@b/c\r");
    await type("DATABASE_URL is not a Postgres URL[\\s\\S]*Postgres URL", "\r");
    expect((await running.ended).code).toBe(0);
    expect(running.output()).not.toMatch(/wrong-key-of-mine|key-of-the-service|secret-word|still open/);
    expect(readFileSync(file(), "utf8")).toBe(`SIMCAT_BASE_URL=${baseUrl}\nSIMCAT_API_KEY=${KEY}\n`);
  });
});
