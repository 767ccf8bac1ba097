import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../support/call-cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { newStateDir } from "./keepers.ts";

/** The settings of a service, and no database: `stateDir` does not exist. */
async function withoutDatabase() {
  const { environment } = await fixture([library("ann", "Lake", { scenarios: [1] })]);
  const { DATABASE_URL: _, ...service } = environment;
  const stateDir = join(newStateDir(), "state");
  return { stateDir, environment: { ...service, SIMCAT_STATE_DIR: stateDir, SIMCAT_LOG_FORMAT: "pretty" } };
}

test("reading commands create no database and say how to begin; a dry run plans to read all (fault 116)", async () => {
  const { stateDir, environment } = await withoutDatabase();
  const commands = [["status"], ["explain", "ann/Lake"], ["verify"], ["report"], ["export"]];
  const prune = ["prune", "--older-than", "1d"];
  for (const args of [...commands, prune, [...prune, "--dry-run"]]) {
    expect({ args, ...(await callCli(args, environment)) }).toMatchObject({
      args,
      code: 78,
      stdout: "",
      stderr: `simcat: nothing is stored yet: DATABASE_URL is not set, and there is no embedded database in ${stateDir}; run simcat backfill, which creates one, or set DATABASE_URL\n`,
    });
  }
  const { code, stdout, stderr } = await callCli(["sync", "--dry-run"], environment);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("  read    ann/Lake  (never read; insert)");
  expect(existsSync(stateDir)).toBe(false);
});

test("check reports where the first run will create the database, and creates none (fault 116)", async () => {
  const { stateDir, environment } = await withoutDatabase();
  mkdirSync(dirname(stateDir));
  const { code, stdout } = await callCli(["check"], environment);
  expect(code).toBe(0);
  const text = `DATABASE_URL is not set: the first run creates an embedded database in ${stateDir}`;
  expect(stdout).toContain(`ok    database       ${text}\nskip  encoding       there is no database yet\n`);
  expect(readdirSync(dirname(stateDir))).toEqual([]);
});

test.runIf(process.platform === "linux").each(["/dev/null/state", "/proc/x"])(
  "check fails if the first run could not create the database in %s (fault 116)",
  async (stateDir) => {
    const { environment } = await withoutDatabase();
    const { code, stdout } = await callCli(["check"], { ...environment, SIMCAT_STATE_DIR: stateDir });
    expect(code).toBe(78);
    expect(stdout).toContain(`FAIL  database       the embedded database cannot be stored in ${stateDir} (`);
    expect(stdout).toContain("; hint: set SIMCAT_STATE_DIR to a writable directory\n");
    expect(stdout).toContain("skip  schema         depends on database");
  },
);
