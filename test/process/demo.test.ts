import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newStateDir } from "../embedded/keepers.ts";
import { MAIN, startProgram } from "../support/cli.ts";

const filesUnder = (directory: string) => readdirSync(directory, { recursive: true, encoding: "utf8" });

test("the tour syncs, reads only edits again, answers SQL, draws a page and leaves no process", async () => {
  const stateDir = newStateDir();
  for (const round of ["first", "second"]) {
    const directory = mkdtempSync(join(tmpdir(), "simcat-demo-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const environment = { SIMCAT_STATE_DIR: stateDir };
    const { code, stdout, stderr } = await startProgram(process.execPath, [MAIN, "demo"], environment, {
      cwd: directory,
    }).ended;
    expect(code, `the ${round} time: ${stdout}${stderr}`).toBe(0);

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
    expect(answers).toContain(`\n  SIMCAT_STATE_DIR=${join(stateDir, "demo")} node ${MAIN} db\n`);
    expect(filesUnder(stateDir).filter((name) => name.endsWith("postmaster.pid"))).toEqual([]);
  }
});
