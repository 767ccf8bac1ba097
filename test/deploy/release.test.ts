/** Checks the promises of docs/releasing.md that can be read from the repository. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { temporaryDirectory } from "../support/temporary-directory.ts";

const run = promisify(execFile);

test("the changelog has unreleased changes, then dated versions, first the one of the package", () => {
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

type Permissions = Readonly<Record<string, string>>;
type Step = { uses?: string; run?: string; with?: Record<string, unknown> };
type Workflow = { permissions: Permissions; jobs: Record<string, { permissions?: Permissions; steps: Step[] }> };

const workflowFiles = readdirSync(".github/workflows").map((name) => `.github/workflows/${name}`);
const workflowOf = (file: string): Workflow => parse(readFileSync(file, "utf8"));
const jobs = workflowFiles.flatMap((file) => {
  const { permissions, jobs } = workflowOf(file);
  return Object.entries(jobs).map(([name, job]) => ({ name, permissions, ...job }));
});
const steps = jobs.flatMap((job) => job.steps);

test("workflows pin each action by its commit, and name its version (fault 175)", () => {
  const uses = workflowFiles.flatMap((file) => [...readFileSync(file, "utf8").matchAll(/^.*uses:\s*(.*)$/gm)]);
  for (const [, action] of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  expect(uses).toHaveLength(steps.filter((step) => step.uses !== undefined).length);
});

test("workflows name each image with its digest (fault 175)", () => {
  const images = workflowFiles.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/^\s*(?:container|image): (?!\$\{\{ matrix\.image \}\}$)(\S.*)$/gm),
  ]);
  for (const [, image] of images) expect(image).toMatch(/^\S+:\S+@sha256:[0-9a-f]{64}$/);
  expect(images.length).toBeGreaterThan(8);
});

test("no checkout leaves a token, and a workflow may only read unless a job says otherwise (fault 175)", () => {
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts.length).toBeGreaterThan(3);
  expect(checkouts.filter((step) => step.with?.["persist-credentials"] !== false)).toEqual([]);
  for (const file of workflowFiles) expect(workflowOf(file).permissions).toEqual({ contents: "read" });
});

test("a job that may write runs only programs of the runner, not the project or a package (fault 175)", () => {
  const writing = jobs.filter(({ permissions }) => Object.values(permissions).includes("write"));
  expect(Object.fromEntries(writing.map(({ name, permissions }) => [name, permissions]))).toEqual({
    package: { "id-token": "write" },
    image: { packages: "write" },
    release: { contents: "write" },
  });
  const written = writing.flatMap((job) => job.steps);
  for (const action of written.flatMap(({ uses }) => uses ?? []))
    expect(action).toMatch(/^actions\/(download-artifact|setup-node)@/);
  for (const program of written.flatMap((step) => step.run ?? [])) {
    expect(program).toMatch(/^(npm publish|skopeo login|skopeo copy|gh release)\b/);
    expect(program).not.toMatch(/[;&|]|npm (?!publish --ignore-scripts )|\n./);
  }
});

/** Builds the image with a `docker` that prints its arguments, and this digest of the base image. */
async function buildImage(digest: string) {
  const directory = temporaryDirectory();
  const docker = `#!/bin/sh\nif [ "$2" = imagetools ]; then echo '"${digest}"'; else echo "$@" >&2; fi\n`;
  writeFileSync(join(directory, "docker"), docker, { mode: 0o755 });
  const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
  return run("bash", [".ci/build-image", "1.2.3", "image.tar"], { env });
}

test("the image of a release is built on one digest of its base image, which the notes name (fault 175)", async () => {
  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
  const { stdout, stderr } = await buildImage(digest);
  expect(stdout).toBe(`\nBase image: \`node:24-slim@${digest}\`\n`);
  const build = stderr.split("\n").find((line) => line.startsWith("buildx build"));
  for (const option of [
    `NODE_IMAGE=node:24-slim@${digest}`,
    `org.opencontainers.image.base.digest=${digest}`,
    "--provenance=mode=max",
    "--sbom=true",
    "type=oci,dest=image.tar",
    "VERSION=1.2.3",
  ])
    expect(build).toContain(` ${option} `);
  await expect(buildImage("none")).rejects.toThrow("no digest of node:24-slim");
});
