import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../process/program.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const run = promisify(execFile);

test("the npm package has every file that its commands load", async () => {
  const directory = await mkdtemp(join(tmpdir(), "simcat-package-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", directory]);
  const [archive = ""] = await readdir(directory);
  await run("tar", ["-xzf", join(directory, archive), "-C", directory]);
  await symlink(resolve("node_modules"), join(directory, "package/node_modules"));

  const { environment, query } = await fixture([library("alice", "Fire")]);
  const main = join(directory, "package/dist/main.js");
  const report = join(directory, "report.html");
  for (const args of [["check"], ["sync"], ["status"], ["report", "--out", report], ["verify"]]) {
    const { code, stderr } = await startProgram(process.execPath, [main, ...args], environment).ended;
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  }
  expect(await query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
});
