import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";
import { gateAfter } from "./gate.ts";

/** Code that runs in the process of the program, before it. */
const preload = (code: string) => ({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` });

const LEAVE_OPEN = `import { createServer } from "node:net"; createServer().listen(0, "127.0.0.1");`;
const FORBID_EXIT = `process.exit = () => process.reallyExit(99);`;

test.each([
  [["sync"], 0],
  [["status", "--json"], 0],
  [["--version"], 0],
  [["nosuch"], 64],
])("%j ends by itself with %i, without process.exit (fault 176)", async (args, code) => {
  const { simcat } = await fixture(numbered(2));

  const ended = await simcat(args, preload(FORBID_EXIT));

  expect(ended.code).toBe(code);
  expect(ended.stderr).not.toContain("still open");
});

test.each([
  [["sync"], 0, /^sync ok/],
  [["nosuch"], 64, /^$/],
])("%j names what it left open and ends with %i after two seconds (fault 176)", async (args, code, stdout) => {
  const { simcat } = await fixture(numbered(2));

  const ended = await simcat(args, preload(LEAVE_OPEN));

  expect(ended.code).toBe(code);
  expect(ended.stdout).toMatch(stdout);
  expect(ended.stderr).toMatch(/simcat: still open 2 s after the end: .*TCPServerWrap/);
});

test("a stop signal keeps its code where something was left open (fault 176)", async () => {
  const gate = gateAfter(0);
  const { start } = await fixture(numbered(2), { onRequest: gate.onRequest });
  const running = start(["sync"], preload(LEAVE_OPEN));
  await gate.reached;

  running.process.kill("SIGTERM");

  expect((await running.ended).code).toBe(143);
});
