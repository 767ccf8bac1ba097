import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);

/** The project, packed as npm does and unpacked. */
const packed = temporaryDirectory(afterAll);
beforeAll(async () => {
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", packed]);
  const [archive = ""] = await readdir(packed);
  await run("tar", ["-xzf", join(packed, archive), "-C", packed]);
  await symlink(resolve("node_modules"), join(packed, "package/node_modules"));
});

test("the npm package has every file that its commands load", async () => {
  const { environment, query } = await fixture([library("alice", "Fire")]);
  const main = join(packed, "package/dist/main.js");
  const report = join(packed, "report.html");
  for (const args of [["check"], ["sync"], ["status"], ["report", "--out", report], ["verify"]]) {
    const { code, stderr } = await startProgram(process.execPath, [main, ...args], environment).ended;
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
  }
  expect(await query("SELECT owner FROM simcat.libraries")).toEqual([{ owner: "alice" }]);
});

test("the packed program can be executed, and names its version and the commit that was built (fault 158)", async () => {
  const program = join(packed, "simcat");
  await symlink(join(packed, "package/dist/main.js"), program);
  for (const args of [["--version"], ["sync", "--version"]]) {
    const { code, stdout } = await startProgram(program, args, { PATH: dirname(process.execPath) }).ended;
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+( \([0-9a-f]{7}\))?\n$/),
    });
    expect(stdout.split(/\s/)[0]).toBe(manifest.version);
    const commit = /\((\w+)\)/.exec(stdout)?.[1];
    if (existsSync(".git")) expect((await run("git", ["cat-file", "-t", commit ?? ""])).stdout).toBe("commit\n");
  }
});

test.each([
  ["rm -r", "dist/chunks"],
  ["rm -r", "dist/program.js"],
  ["rm -r", "package.json"],
  ["rm -r", "migrations"],
  ["rm -r", "migrations/views"],
  ["rm -r", "dist/chunks/check-*"],
  ["rm -r", "node_modules"],
  ["truncate -s 0", "dist/program.js"],
  ["truncate -s 1000", "dist/program.js"],
  ["truncate -s 0", "dist/chunks/check-*"],
  ["truncate -s 1000", "dist/chunks/check-*"],
])("after %s %s the program ends with 78 and says what to do (fault 158)", async (damage, file) => {
  const directory = await mkdtemp(join(packed, "without-"));
  await run("cp", ["-a", join(packed, "package"), directory]);
  const { environment } = await fixture([]);
  // Another schedule than the default loads node-cron, which is not in the bundle.
  const scheduled = { ...environment, SIMCAT_SCHEDULE: "*/5 * * * *" };
  await run("bash", ["-c", `${damage} ${join(directory, "package", file)}`]);
  const main = join(directory, "package/dist/main.js");
  for (const args of file === "migrations" ? [["check"], ["sync"], ["status"]] : [["check"]]) {
    const { code, stdout, stderr } = await startProgram(process.execPath, [main, ...args], scheduled).ended;
    expect({ args, code }).toEqual({ args, code: 78 });
    expect(stdout + stderr).toContain("reinstall simcat");
    expect(stderr).not.toMatch(/^\s+at /m);
  }
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly { readonly license: { readonly id: string } }[];
}

test("notices and bill of materials name each bundled package with version and license text (fault 174)", async () => {
  const dist = join(packed, "package/dist");
  const chunks = (await readdir(join(dist, "chunks"))).map((file) => join(dist, "chunks", file));
  const sources = await Promise.all([join(dist, "program.js"), ...chunks].map((path) => readFile(path, "utf8")));
  // esbuild writes a comment before each module.
  const paths = sources.flatMap((source) =>
    [...source.matchAll(/^\/\/ (node_modules\/.*)$/gm)].map(([, path = ""]) => path),
  );
  const directories = new Set(paths.map((path) => path.replace(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/.*$/, "$1")));
  expect([...directories]).toEqual(expect.arrayContaining(["node_modules/pg", "node_modules/undici"]));

  const notices = await readFile(join(dist, "THIRD_PARTY_NOTICES"), "utf8");
  const bom: { components: readonly Component[] } = JSON.parse(await readFile(join(dist, "sbom.cdx.json"), "utf8"));
  const expected = await Promise.all(
    [...directories].map(async (directory) => {
      const { name, version, license } = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
      expect(notices).toContain(`\n${name} ${version} (${license})\n\n`);
      const [file] = (await readdir(directory)).filter((each) => /^licen[cs]e/i.test(each));
      if (file !== undefined) expect(notices).toContain((await readFile(join(directory, file), "utf8")).trim());
      return `${name} ${version} ${license}`;
    }),
  );
  const named = bom.components.map(({ name, version, licenses }) => `${name} ${version} ${licenses[0]?.license.id}`);
  expect(named.toSorted()).toEqual(expected.toSorted());
  const purls = bom.components.map(({ purl }) => purl);
  expect(purls).toEqual([...new Set(purls)].toSorted());
  // These packages have no file of their license.
  expect(notices).toMatch(
    /\npg-types \S+ \(MIT\)\n\nThe MIT License \(MIT\)\n\nCopyright \(c\) 2014 Brian M\. Carlson\n/,
  );
  expect(notices).toMatch(/\npgpass \S+ \(MIT\)\n\nCopyright \(c\) 2013-2016 Hannes Hörl\n/);
  expect(notices).toMatch(/\ndrizzle-orm \S+ \(Apache-2\.0\)\n\nApache License\n/);
});

test("a build fails if a package of the bundle has no license text (fault 174)", async () => {
  const { listPackages } = await import(resolve("notices.mjs"));
  const directory = temporaryDirectory();
  const pack = join(directory, "node_modules/@owner/unlicensed");
  await mkdir(pack, { recursive: true });
  await writeFile(join(pack, "package.json"), '{"name":"@owner/unlicensed","version":"1.2.3","license":"MIT"}');
  const metafile = { outputs: { "a.js": { inputs: { [join(pack, "lib/index.js")]: { bytesInOutput: 7 } } } } };
  expect(() => listPackages(metafile)).toThrow(`${pack} is bundled and has no license text`);
  await writeFile(join(pack, "LICENSE"), "Permission is granted.\n");
  expect(listPackages(metafile)).toEqual([
    {
      name: "@owner/unlicensed",
      version: "1.2.3",
      license: "MIT",
      text: "Permission is granted.",
      purl: "pkg:npm/%40owner/unlicensed@1.2.3",
    },
  ]);
});
