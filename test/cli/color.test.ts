import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { hasColors } from "../../src/cli/program.ts";
import { callCli } from "../support/call-cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { runOnTerminal } from "../support/terminal.ts";
import { callOnTerminal } from "./call-on-terminal.ts";

const ESCAPE = "\u001b[";
const [GREEN, YELLOW, RED, PLAIN] = [32, 33, 31, 39].map((code) => `${ESCAPE}${code}m`);

test.each([
  ["auto", {}, false, false],
  ["auto", { TERM: "xterm" }, true, true],
  ["auto", { TERM: "dumb" }, true, false],
  ["auto", { TERM: "xterm", NO_COLOR: "1" }, true, false],
  ["auto", { TERM: "xterm", FORCE_COLOR: "0" }, true, false],
  ["auto", { FORCE_COLOR: "1" }, false, true],
  ["auto", { FORCE_COLOR: "", NO_COLOR: "1" }, false, true],
  ["always", { NO_COLOR: "1", FORCE_COLOR: "0" }, false, true],
  ["never", { TERM: "xterm", FORCE_COLOR: "1" }, true, false],
])("--color %s with %j, on a terminal: %j, gives colors: %j", (when, environment, isTerminal, isColored) => {
  expect(hasColors(when, environment, isTerminal)).toBe(isColored);
});

test("a terminal shows colors and symbols; NO_COLOR and --color never leave the symbols", async () => {
  const libraries = [library("ann", "Fire", { scenarios: [1] }), library("ann", "Water")];
  const { environment, service } = await fixture(libraries);
  const { screen } = await runOnTerminal(["sync", "--verbose"], environment);
  expect(screen).toContain(`${GREEN}INFO ${PLAIN} run finished`);
  expect(screen).toContain(`${GREEN}✓ sync ok${PLAIN} in `);
  const screenOf = async (...args: string[]) => (await callOnTerminal(args, environment)).screen;
  const checked = await screenOf("check");
  expect(checked).toContain(`${GREEN}✓${PLAIN}  service`);
  expect(checked).toMatch(/\n\p{Cc}\[(?:32m✓|33m!) ready to run/u);
  expect(await screenOf("status")).toMatch(/1 {2}sync {2}\p{Cc}\[32mok {4}\p{Cc}\[39m {2}/u);
  for (const command of ["status", "libraries"])
    expect(await screenOf(command)).toContain(`${ESCAPE}2m(settled: an unchanged date`);
  expect(await screenOf("verify")).toContain(`${GREEN}✓ verify: the database agrees with the service${PLAIN} (`);
  service.always({ operation: "metadata", library: "Fire" }, { kind: "status", status: 404 });
  expect(await screenOf("backfill")).toContain(`${YELLOW}! backfill partial${PLAIN} in `);
  expect(await screenOf("status")).toContain(`${RED}✗ 1 library fails${PLAIN}\n`);

  const { screen: plain } = await callOnTerminal(["check"], { ...environment, NO_COLOR: "1" });
  for (const text of [plain, await screenOf("check", "--color", "never")]) {
    expect(text).not.toContain(ESCAPE);
    expect(text).toMatch(/^✓ {2}configuration/m);
  }
});

test("a pipe gets words without colors, unless they are forced; data never has colors", async () => {
  const { call } = await fixture([]);
  const forced = { FORCE_COLOR: "1" };
  expect((await call(["check"])).stdout).toMatch(/^ok {4}configuration/m);
  expect((await call(["check"], forced)).stdout).toContain(`${GREEN}✓${PLAIN}  configuration`);
  const { stdout } = await call(["--color", "always", "check"]);
  expect(stripVTControlCharacters(stdout)).toMatch(/^✓ {2}configuration/m);
  for (const args of [
    ["check", "--json"],
    ["sync", "--json"],
    ["status", "--json"],
    ["query", "--csv", "SELECT 1"],
  ]) {
    const { stdout, stderr } = await call(args, forced);
    expect(stdout + stderr).not.toContain(ESCAPE);
  }
});

test("another word after --color is a usage error", async () => {
  expect((await callCli(["check", "--color", "blue"], {})).code).toBe(64);
  expect((await callCli(["--color", "never", "sync", "--nothing"], {})).code).toBe(64);
});
