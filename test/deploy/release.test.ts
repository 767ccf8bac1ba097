/** Checks the promises of docs/releasing.md that can be read from the repository. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);
const manifest: { version: string } = JSON.parse(readFileSync("package.json", "utf8"));

test("the changelog has unreleased changes, then dated versions, the newest of which is that of the package", () => {
  const changelog = readFileSync("CHANGELOG.md", "utf8");
  const [first, ...versions] = [...changelog.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(first).toBe("[Unreleased]");
  expect(versions[0]).toContain(`[${manifest.version}]`);
  expect(versions.filter((heading) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(heading ?? ""))).toEqual([]);
  const kinds = changelog
    .split(/^## /m)
    .map((section) => [...section.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind));
  for (const found of kinds)
    expect(found).toEqual(["Added", "Changed", "Fixed", "Removed"].filter((kind) => found.includes(kind)));
});

test("the notes of a release are the section of its version", async () => {
  const { stdout } = await run("bash", [".ci/release-notes", `v${manifest.version}`]);
  expect(stdout).toMatch(/^\n### Added\n\n- /);
  expect(stdout).not.toMatch(/^## /m);
  await expect(run("bash", [".ci/release-notes", "v99.0.0"])).rejects.toThrow(
    "package.json does not have version 99.0.0",
  );
});
