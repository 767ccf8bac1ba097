import { execFile } from "node:child_process";
import { appendFile, cp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const COPIED = [
  "src",
  "migrations",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "bundle.mjs",
  "notices.mjs",
];

/** The code blocks in a language of the section about a field, without their indentation. */
async function readExample(language: string): Promise<string[]> {
  const document = await readFile("CONTRIBUTING.md", "utf8");
  const section = document.split(/^## A change from start to end: a field$/m)[1]?.split(/^## /m)[0] ?? "";
  const blocks = section.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^ *\`\`\`$`, "gm"));
  return [...blocks].map(([, indentation = "", text = ""]) => text.replaceAll(new RegExp(`^${indentation}`, "gm"), ""));
}

/** A copy of the project in which a migration can be made and a build can be run. Removed after the test. */
async function copyProject(): Promise<string> {
  const directory = temporaryDirectory();
  for (const path of [...COPIED, "drizzle.config.ts"]) {
    await cp(path, join(directory, path), { recursive: true });
  }
  await symlink(resolve("node_modules"), join(directory, "node_modules"));
  return directory;
}

/** Adds the lines of a diff whose first line names the file. Its other lines must occur in the file exactly once. */
async function applyDiff(directory: string, diff: string): Promise<void> {
  const [head = "", ...lines] = diff.trimEnd().split("\n");
  const path = join(directory, head.replace(/^--- /, ""));
  const toText = (some: readonly string[]) => `${some.map((line) => line.slice(1)).join("\n")}\n`;
  const parts = (await readFile(path, "utf8")).split(toText(lines.filter((line) => line.startsWith(" "))));
  expect(parts, `${head} has the context lines of the diff`).toHaveLength(2);
  await writeFile(path, parts.join(toText(lines)));
}

test("the example of a new field gives a column that is filled, versioned, compared and commented", async () => {
  const directory = await copyProject();
  const made = await fixture([library("ann", "Fire", { metadataFields: { projectName: "Boreal" } })]);
  expect((await made.call(["backfill"])).code).toBe(0);

  for (const diff of await readExample("diff")) await applyDiff(directory, diff);
  const runTool = (path: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [path, ...args], { cwd: directory });
  expect(await readExample("sh")).toEqual(["npx drizzle-kit generate --name project_name\n"]);
  await runTool("node_modules/drizzle-kit/bin.cjs", "generate", "--name", "project_name");
  const migration = (await readdir(join(directory, "migrations"))).find((name) => name.endsWith("_project_name.sql"));
  await appendFile(join(directory, "migrations", `${migration}`), (await readExample("sql")).join(""));
  await runTool("node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json");
  await runTool("bundle.mjs");
  const main = join(directory, "dist/main.js");
  const simcat = (...args: string[]) => startProgram(process.execPath, [main, ...args], made.environment).ended;

  // The service answers as before, so only the new version of the hash makes simcat store the value.
  expect(await simcat("backfill")).toMatchObject({ code: 0 });
  made.service.change("ann", "Fire", {
    lastModified: "2023-10-12 at 3:57 PM",
    metadataFields: { projectName: "Montane" },
  });
  expect(await simcat("sync")).toMatchObject({ code: 0 });
  expect(
    await made.query(
      `SELECT project_name FROM simcat.library_history
       UNION ALL SELECT project_name FROM simcat.libraries`,
    ),
  ).toEqual([{ project_name: null }, { project_name: "Boreal" }, { project_name: "Montane" }]);

  expect(await simcat("verify")).toMatchObject({ code: 0 });
  await made.query("UPDATE simcat.libraries SET project_name = 'Alpine'");
  const different = await simcat("verify", "--json");
  expect(different.code).toBe(2);
  expect(JSON.parse(different.stdout)).toMatchObject({
    differences: [{ columns: [{ column: "project_name", stored: "Alpine", service: "Montane" }] }],
  });

  const columns = await made.query<{ table: string; name: string; comment: string }>(
    `SELECT c.relname AS table, a.attname AS name, col_description(c.oid, a.attnum) AS comment
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'simcat'::regnamespace AND c.relkind = 'r' AND a.attname = 'project_name' ORDER BY 1`,
  );
  expect(columns).toEqual([
    { table: "libraries", name: "project_name", comment: expect.stringContaining("NULL") },
    { table: "library_history", name: "project_name", comment: expect.stringContaining("NULL") },
  ]);
});
