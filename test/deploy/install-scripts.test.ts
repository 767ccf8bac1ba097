import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);
/** npm passes its settings on to the scripts that it runs, such as `npm test`. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

/** Installs a package whose install script creates the file `ran` beside it. Returns the files of the installed package. */
async function install(...settings: string[]): Promise<string[]> {
  const directory = temporaryDirectory();
  const npm = (...args: string[]) => run("npm", args, { cwd: directory, env: environment });
  await mkdir(join(directory, "scripted"));
  const scripted = {
    name: "scripted",
    version: "1.0.0",
    scripts: { install: "node -e \"fs.writeFileSync('ran', '')\"" },
  };
  await writeFile(join(directory, "scripted/package.json"), JSON.stringify(scripted));
  await npm("pack", "./scripted");
  await copyFile(".npmrc", join(directory, ".npmrc"));
  await writeFile(
    join(directory, "package.json"),
    JSON.stringify({ dependencies: { scripted: "file:scripted-1.0.0.tgz" } }),
  );
  await npm("install", "--offline", ...settings);
  return (await readdir(join(directory, "node_modules/scripted"))).sort();
}

test("no install script of a dependency runs with the project's settings of npm (fault 141)", async () => {
  expect(await install()).toEqual(["package.json"]);
  expect(await install("--ignore-scripts=false")).toEqual(["package.json", "ran"]);
});

test("no script of the project depends on one that npm would run before or after it", async () => {
  const manifest: { scripts: Record<string, string> } = JSON.parse(await readFile("package.json", "utf8"));
  expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
});
