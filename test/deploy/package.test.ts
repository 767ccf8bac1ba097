import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const run = promisify(execFile);

/** Packs the project as npm does, and unpacks it in a new directory, which is returned. */
async function unpack(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "simcat-package-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", directory]);
  const [archive = ""] = await readdir(directory);
  await run("tar", ["-xzf", join(directory, archive), "-C", directory]);
  await symlink(resolve("node_modules"), join(directory, "package/node_modules"));
  return directory;
}

test("the npm package has every file that its commands load", async () => {
  const directory = await unpack();
  const { environment, query } = await fixture([library("alice", "Fire")]);
  const main = join(directory, "package/dist/main.js");
  const report = join(directory, "report.html");
  for (const args of [["check"], ["sync"], ["status"], ["report", "--out", report], ["verify"]]) {
    const { code, stderr } = await startProgram(process.execPath, [main, ...args], environment).ended;
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  }
  expect(await query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
});

test("the packed program can be executed, and names its version and the commit that was built (fault 158)", async () => {
  const directory = await unpack();
  const program = join(directory, "simcat");
  await symlink(join(directory, "package/dist/main.js"), program);
  for (const args of [["--version"], ["sync", "--version"]]) {
    const { code, stdout } = await startProgram(program, args, { PATH: dirname(process.execPath) }).ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^0\.1\.0( \([0-9a-f]{7}\))?\n$/) });
    const commit = /\((\w+)\)/.exec(stdout)?.[1];
    if (existsSync(".git")) expect((await run("git", ["cat-file", "-t", commit ?? ""])).stdout).toBe("commit\n");
  }
});

test.each(["dist/chunks", "dist/program.js", "migrations", "migrations/views", "dist/chunks/check-*"])(
  "a program without %s ends with 78 and says what to do (fault 158)",
  async (missing) => {
    const directory = await unpack();
    const { environment } = await fixture([]);
    await run("bash", ["-c", `rm -r ${join(directory, "package", missing)}`]);
    const main = join(directory, "package/dist/main.js");
    for (const args of missing === "migrations" ? [["check"], ["sync"], ["status"]] : [["check"]]) {
      const { code, stdout, stderr } = await startProgram(process.execPath, [main, ...args], environment).ended;
      expect({ args, code }).toEqual({ args, code: 78 });
      expect(stdout + stderr).toContain("reinstall simcat");
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  },
);
