import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli, type Environment } from "../support/call-cli.ts";
import { startCli } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library, numbered } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const COMMANDS =
  "init check migrate completion sync backfill start prune status libraries explain verify query report export demo mock db".split(
    " ",
  );

const SECRET = "swordfish-5f2c";

test("the help lists every command and where to begin", async () => {
  const { code, stdout } = await callCli(["--help"], {});
  expect(code).toBe(0);
  const named = [...stdout.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name]) => name);
  expect(named).toEqual([...COMMANDS, "help"]);
  expect(stdout).toContain("Start with: simcat demo");
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
});

test.each(COMMANDS)(
  "the help of %s has an example that starts with the command, and a document about it (fault 303)",
  async (name) => {
    const { code, stdout, stderr } = await callCli([name, "--help"], {});
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(new RegExp(`\\nExample:\\n  \\$ (SIMCAT_\\S+='[^']+' )?simcat ${name}\\b`));
    const [, document = ""] = /\nMore: (\S+)\n/.exec(stdout) ?? [];
    expect(readFileSync(document, "utf8")).toContain(`simcat ${name}`);
  },
);

const HINT = "(see simcat --help or simcat COMMAND --help)";

test.each([
  [["snyc"], "unknown command 'snyc'\n(Did you mean sync?)"],
  [["help", "snyc"], "unknown command 'snyc'\n(Did you mean sync?)"],
  [["snyc", "--help"], "unknown command 'snyc'\n(Did you mean sync?)"],
  [["sync", "--dry-rn"], "unknown option '--dry-rn'\n(Did you mean --dry-run?)"],
  [["explain"], "missing required argument 'OWNER/NAME'"],
  [["explain", "ann/My", "Lib"], "too many arguments for 'explain'. Expected 1 argument but got 2."],
  [["sync", "extra", "--nosuch"], "unknown option '--nosuch'"],
  [["prune", "--older-than"], "option '--older-than <DURATION>' argument missing"],
  [["mock", "--port", "x"], "option '--port <PORT>' argument 'x' is invalid. expected a whole number up to 65,535."],
  [
    ["mock", "--libraries", "100001"],
    "option '--libraries <COUNT>' argument '100001' is invalid. expected a whole number up to 100,000.",
  ],
  [
    ["mock", "--scenarios", "1000001"],
    "option '--scenarios <COUNT>' argument '1000001' is invalid. expected a whole number up to 1,000,000.",
  ],
])("%j exits with 64 and names the wrong word (faults 117, 250)", async (args, message) => {
  expect(await callCli(args, { SIMCAT_LOG_FORMAT: "pretty" })).toMatchObject({
    code: 64,
    stdout: "",
    stderr: `simcat: ${message}\n${HINT}\n`,
  });
});

test("every command logs a misspelt setting without its value, also from a .env file (fault 115)", async () => {
  const { database, call } = await fixture([]);
  const misspelt = { SIMCAT_SCHEDUL: "* * * * *" };
  const msg = "unknown setting SIMCAT_SCHEDUL (ignored); did you mean SIMCAT_SCHEDULE?";
  const forMachines = await call(["status"], misspelt);
  expect(JSON.parse(forMachines.stderr)).toMatchObject({ level: "warn", code: "unknown_setting", msg });
  expect((await call(["status"], { ...misspelt, SIMCAT_LOG_LEVEL: "error" })).stderr).toBe("");

  const warning = (name: string) => `simcat: unknown setting ${name} (ignored); did you mean DATABASE_URL?`;
  const value = `postgres://u:${SECRET}@h/d`;
  const environment = { DATABASE_URL: database.url, DATABSE_URL: value, SIMCAT_LOG_FORMAT: "pretty" };
  const { stderr } = await startCli(["status"], environment, `DATABASE_URI=${value}\n`).ended;
  expect(stderr.trimEnd().split("\n").toSorted()).toEqual([warning("DATABASE_URI"), warning("DATABSE_URL")]);
});

test("the commands printed by simcat mock can be pasted, even where the key is already set", async () => {
  const exportLine = async (environment: Environment) => {
    const { stdout } = await callCli(["mock", "--port", "0"], environment, AbortSignal.abort());
    return stdout.split("\n").find((line) => line.startsWith("  export"));
  };
  expect(await exportLine({})).toMatch(/^ {2}export SIMCAT_BASE_URL=http:\S+ SIMCAT_API_KEY=mock-key$/);
  expect(await exportLine({ SIMCAT_API_KEY: "mock-key" })).toMatch(/^ {2}export SIMCAT_BASE_URL=http:\S+$/);
});

test("--quiet prints nothing of a run, a report, an export or a prune that succeeds; -v logs retries", async () => {
  const { call, service } = await fixture([library("ann", "Fire", { scenarios: [1] })]);
  const out = join(temporaryDirectory(), "out");
  const silent = { code: 0, stdout: "", stderr: "" };
  service.once({ operation: "metadata" }, { kind: "status", status: 500 });
  expect(await call(["backfill", "--quiet"])).toMatchObject(silent);
  service.once({ operation: "metadata" }, { kind: "status", status: 500 });
  expect(await call(["backfill", "-v"])).toMatchObject({
    stdout: expect.stringContaining("backfill ok in"),
    stderr: expect.stringContaining('"code":"request_retried"'),
  });
  expect(await call(["report", "--quiet", "--out", `${out}.html`])).toMatchObject(silent);
  expect(await call(["export", "--quiet", "--out", out])).toMatchObject(silent);
  expect(await call(["prune", "--quiet", "--older-than", "30d"])).toMatchObject(silent);
  expect((await call(["prune", "--quiet", "--older-than", "30d", "-n"])).stdout).toContain("would be deleted");
});

test.each([
  ["sync", "--slice"],
  ["backfill", "--owner"],
  ["verify", "--library"],
  ["report", "--owner"],
  ["libraries", "--owner"],
  ["report", "--out"],
  ["report", "--title"],
  ["report", "--title", "  "],
  ["export", "--out"],
  ["query", "--file"],
])("%s refuses an empty %s with 64 (faults 117, 222)", async (command, option, value = "") => {
  const { code, stdout, stderr } = await callCli([command, option, value], {});
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  const msg = expect.stringMatching(
    new RegExp(`^option '${option}.* argument '${value}' is invalid\\. It is empty\\.\n`),
  );
  expect(JSON.parse(stderr)).toMatchObject({ level: "error", code: "usage", msg });
});

test("sync --dry-run lists twenty libraries with one reason, and more only with --verbose (faults 169 and 325)", async () => {
  const eachRead = /^ {2}read {4}alice\/Lib \d+ {2}\(never read; insert\)$/gm;
  const few = await fixture(numbered(20));
  const { code, stdout } = await few.call(["sync", "-n"]);
  expect(code).toBe(0);
  expect(stdout.match(eachRead)).toHaveLength(20);
  expect(stdout).not.toContain("--verbose");

  const many = await fixture(numbered(1_021));
  // The hint must not lose the options.
  expect((await many.call(["sync", "--dry-run", "--owner", "alice"])).stdout.trimEnd().split("\n")).toEqual([
    "dry run: 1,021 libraries listed; nothing was written",
    "  read    1,021 libraries  (never read; insert)",
    "  with --verbose, each of them is listed",
    "a run would send 2,042 requests for content, and the requests for the listing",
  ]);
  expect((await many.call(["sync", "--dry-run", "--verbose"])).stdout.match(eachRead)).toHaveLength(1_021);
});
