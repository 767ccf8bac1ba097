import * as childProcess from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { newStateDir } from "../embedded/keepers.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const filesUnder = (directory: string) => readdirSync(directory, { recursive: true, encoding: "utf8" });

const execFile = promisify(childProcess.execFile);
/** npm passes its settings on to the scripts that it runs, such as `npm test`. */
const userEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_|DATABASE/i.test(name)),
) as Record<string, string>;

/** Installs the packed project with its dependencies in the directory, as its users do. */
async function installPackage(directory: string): Promise<void> {
  const packed = temporaryDirectory();
  await execFile("npm", ["pack", "--ignore-scripts", "--pack-destination", packed]);
  const [archive = ""] = readdirSync(packed);
  const options = ["--prefer-offline", "--no-audit", "--no-fund"];
  await execFile("npm", ["install", ...options, join(packed, archive)], { cwd: directory, env: userEnvironment });
}

test("the tour syncs, reads only edits again, answers SQL, draws a page and leaves no process", async () => {
  const stateDir = newStateDir();
  const installed = temporaryDirectory();
  await installPackage(installed);
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
