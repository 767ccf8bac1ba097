import { expect, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { syncedFixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";

/** Not `maxRSS`: it begins with the memory of the process that started this one. */
const READ_PEAK = 'parseInt(readFileSync("/proc/self/status","utf8").split("VmHWM:")[1])>>10';
const PRINT_MEMORY = `data:text/javascript,import{readFileSync}from"node:fs";process.on("exit",()=>process._rawDebug("peak",${READ_PEAK}))`;

test("a run without news takes at most 100 MB", async () => {
  const { environment } = await syncedFixture(numbered(200));
  const settings = { ...environment, NODE_OPTIONS: `--import ${JSON.stringify(PRINT_MEMORY)}` };
  const { code, stderr } = await startProgram(process.execPath, [MAIN, "sync"], settings).ended;
  const megabytes = Number(/peak (\d+)/.exec(stderr)?.[1]);

  expect(code).toBe(0);
  expect(megabytes).toBeGreaterThan(30);
  expect(megabytes).toBeLessThanOrEqual(100);
});
