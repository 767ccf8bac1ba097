import * as childProcess from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startMockService } from "../../src/mock/mock-service.ts";
import { createOrganization } from "../../src/mock/organization.ts";
import { newStateDir } from "../embedded/keepers.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const filesUnder = (directory: string) => readdirSync(directory, { recursive: true, encoding: "utf8" });

const execFile = promisify(childProcess.execFile);
/** npm passes its settings on to the scripts that it runs, such as `npm test`. */
const userEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|DATABASE/i.test(name)),
) as Record<string, string>;

/** The packed project, as its users get it. */
const packed = temporaryDirectory(afterAll);
let archive = "";
beforeAll(async () => {
  await execFile("npm", ["pack", "--ignore-scripts", "--pack-destination", packed]);
  archive = join(packed, readdirSync(packed)[0] ?? "");
});

test("the tour syncs, reads only edits again, answers SQL, draws a page and leaves no process", async () => {
  const stateDir = newStateDir();
  const installed = temporaryDirectory();
  const options = ["--prefer-offline", "--no-audit", "--no-fund"];
  await execFile("npm", ["install", ...options, archive], { cwd: installed, env: userEnvironment });
  for (const { directory, program, args, simcat } of [
    { directory: temporaryDirectory(), program: process.execPath, args: [MAIN], simcat: `node ${MAIN}` },
    { directory: installed, program: "npx", args: ["--no", "simcat"], simcat: "npx simcat" },
  ]) {
    const environment = { ...userEnvironment, SIMCAT_STATE_DIR: stateDir };
    const running = startProgram(program, [...args, "demo"], environment, { cwd: directory });
    const { code, stdout, stderr } = await running.ended;
    expect(code, `${program}: ${stdout}${stderr}`).toBe(0);

    const [filled, rest = ""] = stdout.split("# Users edit a few of them:");
    expect(filled).toMatch(
      /backfill ok in .+ \(run 1\)\n {2}libraries {2}200 listed, 200 read, 0 skipped, 200 changed/,
    );
    const [told = "", answers = ""] = rest.split("# What changed in that run");
    expect(told).toMatch(/dry run: 200 libraries listed; nothing was written/);
    expect(told).toMatch(
      /sync ok in .+ \(run 2\)\n {2}libraries {2}200 listed, \d read, 19\d skipped, 5 changed, 1 removed/,
    );
    expect(answers).toMatch(/ removed +library /);
    expect(answers).toMatch(/^owner +parents +never_run +percent\nexample\.user +\d+ +\d+ +\d+$/m);

    const page = join(directory, "simcat-demo.html");
    expect(answers).toContain(`report: ${page}`);
    expect(answers).toContain(`\n# And now? Open the page in a browser:\n  file://${page}\n`);
    expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>[\s\S]*<svg [\s\S]*<\/html>\s*$/i);
    expect(answers).toContain(`\n  SIMCAT_STATE_DIR=${join(stateDir, "demo")} ${simcat} db\n`);
    expect(filesUnder(stateDir).filter((name) => name.endsWith("postmaster.pid"))).toEqual([]);
  }
});

test("a tour without a place for its database leaves nothing open (fault 289)", async () => {
  const environment = { ...userEnvironment, SIMCAT_STATE_DIR: "/proc/nowhere" };
  const { code, stderr } = await startProgram(process.execPath, [MAIN, "demo"], environment).ended;
  expect(code).toBe(78);
  expect(stderr).toMatch(/^[^\n]*set SIMCAT_STATE_DIR to a writable directory[^\n]*\n$/);
});

test("init names a next command that exists, also after npx with a tarball (fault 229)", async () => {
  const mock = await startMockService({
    organization: createOrganization({ seed: 7, libraries: 2, scenariosPerLibrary: 2, now: new Date() }),
    apiKey: "mock-key",
  });
  onTestFinished(() => mock.stop());
  const options = { cwd: packed, env: { ...userEnvironment, SIMCAT_STATE_DIR: newStateDir() } };
  const settings = ["--base-url", mock.url, "--api-key", "mock-key", "--database-url", ""];

  const npx = ["--yes", "--prefer-offline", `./${basename(archive)}`];
  const { stdout } = await execFile("npx", [...npx, "init", ...settings], options);

  const [, simcat = ""] = /^next: (.+) backfill$/m.exec(stdout) ?? [];
  const dryRun = await promisify(childProcess.exec)(`${simcat} sync --dry-run`, options);
  expect(dryRun.stdout).toContain("dry run: 2 libraries listed; nothing was written");
});
