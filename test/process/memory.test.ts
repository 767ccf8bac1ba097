import { expect, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { syncedFixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";

const PRINT_MEMORY =
  'data:text/javascript,process.on("exit",()=>process._rawDebug("peak",process.resourceUsage().maxRSS>>10))';

test("a run without news takes at most 100 MB", async () => {
  const { environment } = await syncedFixture(numbered(200));
  const settings = { ...environment, NODE_OPTIONS: `--import ${JSON.stringify(PRINT_MEMORY)}` };
  const { code, stderr } = await startProgram(process.execPath, [MAIN, "sync"], settings).ended;
  const megabytes = Number(/peak (\d+)/.exec(stderr)?.[1]);

  expect(code).toBe(0);
  expect(megabytes).toBeGreaterThan(30);
  expect(megabytes).toBeLessThanOrEqual(100);
});
