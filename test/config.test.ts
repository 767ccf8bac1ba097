import { mkdirSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readEnvironment } from "../src/config/environment.ts";
import { type Config, findUnknownSettings, loadConfig } from "../src/config.ts";
import { ConfigurationError } from "../src/errors.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const ALL = { service: true, database: true };
const NEEDED = { SIMCAT_BASE_URL: "https://api.example.com/v1/", SIMCAT_API_KEY: "canary-key" };

const directory = temporaryDirectory(afterAll);

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}

/** The problems of this environment, one per line. */
function problemsOf(environment: Record<string, string>, needs = ALL): string[] {
  try {
    loadConfig(environment, needs);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.message
      .split("\n")
      .slice(1)
      .map((line) => line.trim());
  }
}

test("reports all problems in one message, one per line, and as values", () => {
  const environment = { SIMCAT_CONCURRENCY: "0", SIMCAT_MAX_BODY: "512MB", DATABASE_DIRECT_URL: "postgres://host/db" };
  const problems = [
    ["SIMCAT_CONCURRENCY", 'is "0"', "expected a whole number from 1 to 1024"],
    ["SIMCAT_MAX_BODY", 'is "512MB"', "expected a size from 1B to 1024GiB, such as 64KiB, 512MiB or 1GiB"],
    ["SIMCAT_BASE_URL", "is not set", "expected the service's base URL, such as https://api.example.com/v1/"],
    [
      "SIMCAT_API_KEY",
      "is not set",
      "expected the service's API key, here or in the file that SIMCAT_API_KEY_FILE names",
    ],
    ["DATABASE_DIRECT_URL", "is set without DATABASE_URL", "set both, or only DATABASE_URL"],
  ];
  const lines = problems.map(([name, problem, hint]) => `  ${name} ${problem}; ${hint}`);
  expect(() => loadConfig(environment, ALL)).toThrow(
    expect.objectContaining({
      name: "ConfigurationError",
      message: ["the configuration has 5 problems:", ...lines].join("\n"),
    }),
  );
});

test.each([
  ["SIMCAT_MAX_BODY", "1025GiB", "a size from 1B to 1024GiB, such as 64KiB, 512MiB or 1GiB"],
  ["SIMCAT_FULL_EVERY", "0d", "a duration from 1ms to 3650d, such as 15m, 24h or 7d"],
  ["SIMCAT_KEEP_HISTORY", "3651d", "a duration from 24h to 3650d, such as 90d or 395d"],
  ["SIMCAT_MAX_REMOVED", "0.12345%", "0% to 100%, at most four decimals"],
])("the message about %s=%s names the bounds (fault 304)", (name, value, expected) => {
  expect(problemsOf({ ...NEEDED, [name]: value })).toEqual([`${name} is "${value}"; expected ${expected}`]);
});

test("an empty value counts as unset", () => {
  expect(loadConfig({ ...NEEDED, DATABASE_URL: "", SIMCAT_CONCURRENCY: "" }, ALL)).toMatchObject({
    databaseUrl: null,
    databaseDirectUrl: null,
    concurrency: 16,
  });
  expect(problemsOf({ ...NEEDED, SIMCAT_API_KEY: "" })).toHaveLength(1);
});

/** Texts, each with its value. */
type Read = Readonly<Record<string, unknown>>;
const DAY = 86_400_000;
/** Texts that are their own values. */
const same = (...texts: readonly string[]): Read => Object.fromEntries(texts.map((text) => [text, text]));
const flag: Read = { true: true, false: false };

test.each<[name: string, field: keyof Config, good: Read, bad: readonly string[]]>([
  ["DATABASE_URL", "databaseUrl", same("postgres://user:pass@pooler/db"), []],
  ["SIMCAT_CONCURRENCY", "concurrency", { 1: 1, 1024: 1024 }, ["0", "1025", "-1", "1.5", "1e2", "0x10", "many", " 1"]],
  ["SIMCAT_MAX_RPS", "maxRps", { 1: 1, 100000: 100_000 }, ["0", "100001", "0.5"]],
  ["SIMCAT_MAX_RETRIES", "maxRetries", { 0: 0, 100: 100 }, ["101", "-1"]],
  ["SIMCAT_REQUEST_TIMEOUT", "requestTimeoutMs", { "1ms": 1, "24d": 24 * DAY }, ["0s", "25d", "60", "1.5s"]],
  ["SIMCAT_MAX_RETRY_WAIT", "maxRetryWaitMs", { "1ms": 1, "24d": 24 * DAY }, ["0s", "25d", "soon"]],
  ["SIMCAT_MAX_BODY", "maxBodyBytes", { "1B": 1, "1024GiB": 2 ** 40 }, ["0B", "1025GiB", "512"]],
  ["SIMCAT_FULL_EVERY", "fullEveryMs", { "1ms": 1, "3650d": 3650 * DAY }, ["0d", "3651d", "1w"]],
  ["SIMCAT_KEEP_HISTORY", "keepHistoryMs", { "1440m": DAY, "3650d": 3650 * DAY }, ["23h", "1h", "0d", "3651d", "1y"]],
  ["SIMCAT_MAX_REMOVED", "maxRemoved", { "0%": 0, "0.5%": 5_000, "100%": 1_000_000 }, ["100.1%", "30", "-1%"]],
  ["SIMCAT_HTTP_HOST", "httpHost", same("0.0.0.0"), []],
  ["SIMCAT_HTTP_PORT", "httpPort", { 0: 0, 65535: 65_535 }, ["65536", "http"]],
  [
    "SIMCAT_HTTP_ALLOWED_HOSTS",
    "httpAllowedHosts",
    { simcat: ["simcat"], "simcat, a.example.com": ["simcat", "a.example.com"] },
    ["simcat:9464", "http://simcat", "a b", "a,,b", "*.example.com"],
  ],
  ["SIMCAT_AUTO_MIGRATE", "autoMigrate", flag, ["1", "yes", "TRUE"]],
  ["SIMCAT_ALLOW_HTTP", "allowHttp", flag, ["1"]],
  ["SIMCAT_SERVICE_TIMEZONE", "serviceTimezone", same("UTC", "Asia/Kathmandu"), ["Mars/Olympus", "local"]],
  ["SIMCAT_TIMEZONE", "timezone", same("Europe/Berlin"), ["nowhere"]],
  [
    "SIMCAT_SCHEDULE",
    "schedule",
    same("0 3 * * *", "*/30 * * * * *", "0 3 * * MON-FRI", "0 0 29 2 *"),
    ["hourly", "* * * *", "* * * * * * *", "0 3 * * ;", "61 * * * *", "a b c d e", "0 0 30 2 *", "0 0 31 4,6 *"],
  ],
  ["SIMCAT_DEFAULT_OWNER", "defaultOwner", same("first-last", "ünï"), [".", "..", "\ud800"]],
  ["SIMCAT_STATE_DIR", "stateDir", same("/a/~b"), ["~", "~/simcat"]],
  ["SIMCAT_LOG_LEVEL", "logLevel", same("trace", "silent"), ["verbose", "INFO"]],
  ["SIMCAT_LOG_FORMAT", "logFormat", same("auto", "json", "pretty"), ["text"]],
  ["SIMCAT_API_KEY", "apiKey", same("k3y-x7q8"), []],
  ["SIMCAT_NOTIFY_URL", "notifyUrl", same("https://hooks.example.com/x"), []],
])("reads the setting %s as %s from %j, and rejects %j", (name, field, good, bad) => {
  for (const [text, value] of Object.entries(good))
    expect(loadConfig({ ...NEEDED, [name]: text }, ALL)).toMatchObject({ [field]: value });
  for (const value of bad) {
    const problems = problemsOf({ ...NEEDED, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.startsWith(`${name} is ${JSON.stringify(value)}; expected `)).toBe(true);
  }
});

test("a schedule is rejected with its actual problem, however long it is", () => {
  const refused = (schedule: string) => problemsOf({ ...NEEDED, SIMCAT_SCHEDULE: schedule })[0];
  expect(refused("0 24 * * *")).toContain("24 is a invalid expression for hour");
  expect(refused("0 0 30 2 *")).toContain("30 2 is an impossible day of month");
  expect(refused(`${"9".repeat(5_000)} * * * *`)?.length).toBeLessThan(300);
});

test.each([
  ["https://api.example.com/v1", "https://api.example.com/v1/"],
  ["https://api.example.com/v1/", "https://api.example.com/v1/"],
  ["https://api.example.com", "https://api.example.com/"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"],
  ["http://127.8.9.10/", "http://127.8.9.10/"],
  ["http://[::1]:8080/", "http://[::1]:8080/"],
  ["http://localhost:8080/x", "http://localhost:8080/x/"],
])("the base URL %s is read as %s (fault 15)", (given, taken) => {
  expect(loadConfig({ ...NEEDED, SIMCAT_BASE_URL: given }, ALL).baseUrl?.href).toBe(taken);
});

const BASE_URL = "SIMCAT_BASE_URL";
const KEY = "SIMCAT_API_KEY";
const KEY_CHARACTERS = "has a line break, a space at an end, or a character that is not printable ASCII";

test.each([
  [BASE_URL, "http://canary.example/", "is plain http"],
  [BASE_URL, "http://127.0.0.1.canary.example/", "is plain http"],
  [BASE_URL, "https://user:canary-password@api.example.com/", "has a user name or password"],
  [BASE_URL, "https://api.example.com/?", "has a query or a fragment"],
  [BASE_URL, "https://api.example.com/?key=canary-password", "has a query or a fragment"],
  [BASE_URL, "https://api.example.com/#", "has a query or a fragment"],
  [BASE_URL, "ftp://canary.example/", "is not an https URL"],
  [BASE_URL, "canary.example/v1", "is not a URL"],
  [BASE_URL, "localhost:8080", "is not an https URL"],
  [KEY, "canary\nkey", KEY_CHARACTERS],
  [KEY, "canary key\n", KEY_CHARACTERS],
  [KEY, "canary ", KEY_CHARACTERS],
  [KEY, "canäry", KEY_CHARACTERS],
  [KEY, "canary\u007f", KEY_CHARACTERS],
  [KEY, "canaryk", "is shorter than 8 characters, so messages could not be masked without hiding ordinary words"],
  ["DATABASE_URL", "mysql://user:canary@host/db", "is not a Postgres URL"],
  ["DATABASE_URL", "canary", "is not a Postgres URL"],
  ["DATABASE_URL", "postgres://user:can/ary#1@host/db", "has an @ after its host"],
  ["SIMCAT_NOTIFY_URL", "canary-hook", "is not an http or https URL"],
  ["SIMCAT_NOTIFY_URL", "ftp://canary.example/", "is not an http or https URL"],
])("%s=%j is rejected and not echoed: %s (faults 104, 105, 106, 109)", (name, value, problem) => {
  const problems = problemsOf({ ...NEEDED, [name]: value });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`${name} ${problem}`);
  expect(problems[0]).not.toMatch(/canary|can\/|ary#/);
});

test("does not echo a secret that was put into the wrong setting (fault 104)", () => {
  const problems = problemsOf({ ...NEEDED, SIMCAT_CONCURRENCY: "canary-key", SIMCAT_BASE_URL: "canary-key" });
  expect(problems).toHaveLength(2);
  expect(problems.join()).not.toContain("canary");
});

test("reads a secret from a file and strips one trailing newline", () => {
  const { SIMCAT_BASE_URL } = NEEDED;
  for (const ending of ["", "\n", "\r\n"]) {
    const path = file("key", `canary-key${ending}`);
    const config = loadConfig({ SIMCAT_BASE_URL, SIMCAT_API_KEY_FILE: path }, ALL);
    expect(config).toMatchObject({ apiKey: "canary-key", given: [{}, { name: "SIMCAT_API_KEY", file: path }] });
  }
  expect(problemsOf({ SIMCAT_BASE_URL, SIMCAT_API_KEY_FILE: file("key", "canary-key\n\n") })).toHaveLength(1);
  const DATABASE_URL_FILE = file("url", "postgres://user:canary@host/db\n");
  const DATABASE_DIRECT_URL_FILE = file("direct", "postgres://direct/db");
  expect(loadConfig({ ...NEEDED, DATABASE_URL_FILE, DATABASE_DIRECT_URL_FILE }, ALL)).toMatchObject({
    databaseUrl: "postgres://user:canary@host/db",
    databaseDirectUrl: "postgres://direct/db",
  });
});

test("reports a secret that is set twice, or whose file is missing or empty", () => {
  const path = file("key", "canary-key");
  expect(problemsOf({ ...NEEDED, SIMCAT_API_KEY_FILE: path })).toEqual([
    "SIMCAT_API_KEY is set, and SIMCAT_API_KEY_FILE too; set one of them",
  ]);
  const { SIMCAT_BASE_URL } = NEEDED;
  expect(problemsOf({ SIMCAT_BASE_URL, SIMCAT_API_KEY_FILE: "/nowhere/key" })).toEqual([
    'SIMCAT_API_KEY_FILE "/nowhere/key" cannot be read (ENOENT); expected a file with the secret in it',
  ]);
  expect(problemsOf({ SIMCAT_BASE_URL, SIMCAT_API_KEY_FILE: file("empty", "\n") })).toEqual([
    `SIMCAT_API_KEY_FILE ${JSON.stringify(join(directory, "empty"))} is empty; expected the secret in it`,
  ]);
});

test("shows no secret that was set instead of the path of its file (fault 254)", () => {
  for (const [name, secret] of [
    ["SIMCAT_API_KEY_FILE", "canary-key"],
    ["DATABASE_URL_FILE", "postgres://user:canary@host/db"],
    ["SIMCAT_NOTIFY_URL_FILE", "https://hooks.example.com/canary"],
  ] as const)
    expect(problemsOf({ SIMCAT_BASE_URL: NEEDED.SIMCAT_BASE_URL, [name]: secret })).toContain(
      `${name} cannot be read (ENOENT); expected a file with the secret in it`,
    );
});

test("settings that a command does not need may be unset, but those of the service must be valid", () => {
  const nothing = { service: false, database: false };
  expect(loadConfig({}, nothing)).toMatchObject({ baseUrl: null, apiKey: null, databaseUrl: null });
  expect(problemsOf({ SIMCAT_BASE_URL: "http://api.example.com/" }, nothing)).toHaveLength(1);
  expect(
    loadConfig({ DATABASE_URL: "mysql://host/db", DATABASE_URL_FILE: "/nowhere" }, nothing).databaseUrl,
  ).toBeNull();
});

const hintsFor = (...names: readonly string[]) =>
  findUnknownSettings(Object.fromEntries(names.map((name) => [name, "canary"]))).map(({ hint }) => hint);

test("reports unknown names that resemble a setting, without the value (fault 115)", () => {
  expect(findUnknownSettings({ ...NEEDED, SIMCAT_CONCURENCY: "canary", SIMCAT_BASE_URL_FILE: "x", PATH: "/" })).toEqual(
    [
      { text: "unknown setting SIMCAT_CONCURENCY (ignored)", hint: "did you mean SIMCAT_CONCURRENCY?" },
      { text: "unknown setting SIMCAT_BASE_URL_FILE (ignored)", hint: null },
    ],
  );
});

test.each([
  ["DATABSE_URL", "DATABASE_URL"],
  ["DATABASE_URLS", "DATABASE_URL"],
  ["DATABASEURL", "DATABASE_URL"],
  ["database_url", "DATABASE_URL"],
  ["SIMCAT_DATABASE_URL", "DATABASE_URL"],
  ["DATABASE_URL_FLE", "DATABASE_URL_FILE"],
  ["DATABASE_DIRECT_URI", "DATABASE_DIRECT_URL"],
  ["SIMCT_API_KEY", "SIMCAT_API_KEY"],
])("%s is a near miss of %s (fault 115)", (name, meant) => {
  expect(hintsFor(name)).toEqual([`did you mean ${meant}?`]);
});

test("does not report variables of other programs (fault 115)", () => {
  const others = [
    ...["DATABASE_HOST", "DATABASE_USER", "DATABASE_NAME", "DATABASE_PORT", "DATABASE_TLS", "DATABASE_PASSWORD"],
    ...["DB_URL", "POSTGRES_URL", "TEST_DATABASE_URL", "SHADOW_DATABASE_URL", "DIRECT_URL"],
    ...["API_KEY", "BASE_URL", "PGURL"],
  ];
  expect(hintsFor(...others)).toEqual([]);
});

test("the environment overrides .env, even with an empty value or a secret's file", () => {
  file(".env", 'SIMCAT_API_KEY="from file"\nSIMCAT_CONCURRENCY=3\nDATABASE_URL=postgres://host/db\n');
  const { environment, dotenv } = readEnvironment({ SIMCAT_CONCURRENCY: "5", DATABASE_URL: "" }, directory);
  expect(environment).toEqual({ SIMCAT_API_KEY: "from file", SIMCAT_CONCURRENCY: "5", DATABASE_URL: "" });
  expect(dotenv).toEqual(new Set(["SIMCAT_API_KEY"]));
  const fromFile = { SIMCAT_API_KEY_FILE: "/run/secrets/key", SIMCAT_CONCURRENCY: "5", DATABASE_URL: "" };
  expect(readEnvironment(fromFile, directory).environment).toEqual(fromFile);
});

test("ignores a missing .env, and reports one that is no readable UTF-8, or a link to nothing (faults 224, 379)", () => {
  expect(readEnvironment({ A: "1" }, join(directory, "missing")).environment).toEqual({ A: "1" });
  const unreadable = join(directory, "unreadable");
  mkdirSync(join(unreadable, ".env"), { recursive: true });
  expect(() => readEnvironment({}, unreadable)).toThrow(ConfigurationError);
  rmdirSync(join(unreadable, ".env"));
  symlinkSync("/nowhere", join(unreadable, ".env"));
  expect(() => readEnvironment({}, unreadable)).toThrow(/\.env cannot be read \(ENOENT\)/);
  file(".env", Buffer.from("SIMCAT_DEFAULT_OWNER=Müller\n", "latin1"));
  expect(() => readEnvironment({}, directory)).toThrow("UTF-8");
});

test("the texts of given settings are kept without secrets (fault 104)", () => {
  const environment = {
    ...NEEDED,
    DATABASE_URL: "postgres://user:canary%40pass@host/db?password=canary",
    SIMCAT_MAX_RPS: "5",
    SIMCAT_NOTIFY_URL: "https://hooks.example.com/canary",
  };
  const { given, secrets } = loadConfig(environment, ALL);
  const hidden = ["canary-key", "https://hooks.example.com/canary", "canary%40pass", "canary@pass", "canary"];
  expect(secrets).toEqual(hidden);
  expect(given).toEqual([
    { name: "SIMCAT_BASE_URL", text: "https://api.example.com/v1/" },
    { name: "SIMCAT_API_KEY", text: "***" },
    { name: "DATABASE_URL", text: "postgres://user:***@host/db?password=***" },
    { name: "SIMCAT_MAX_RPS", text: "5" },
    { name: "SIMCAT_NOTIFY_URL", text: "***" },
  ]);
});

test("parsing a schedule leaves no task in the scheduler, however often it is parsed (fault 72)", () => {
  const { getTasks } = createRequire(import.meta.url)("node-cron") as typeof import("node-cron");
  const before = getTasks().size;
  for (let reading = 0; reading < 10; reading += 1) loadConfig({ ...NEEDED, SIMCAT_SCHEDULE: "*/5 * * * *" }, ALL);
  expect(problemsOf({ ...NEEDED, SIMCAT_SCHEDULE: "0 0 30 2 *" })).toHaveLength(1);
  expect(getTasks().size).toBe(before);
});
