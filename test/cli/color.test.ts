import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { hasColors } from "../../src/cli/context.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { runOnTerminal } from "../support/terminal.ts";

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
  const checked = await runOnTerminal(["check"], environment);
  expect(checked.screen).toContain(`${GREEN}✓${PLAIN}  service`);
  expect(checked.screen).toMatch(/\n\p{Cc}\[(?:32m✓|33m!) ready to run/u);
  expect((await runOnTerminal(["status"], environment)).screen).toMatch(
    /1 {2}sync {2}\p{Cc}\[32mok {4}\p{Cc}\[39m {2}/u,
  );
  expect((await runOnTerminal(["verify"], environment)).screen).toContain(
    `${GREEN}✓ verify: the database agrees with the service${PLAIN} (`,
  );
  service.always({ operation: "metadata", library: "Fire" }, { kind: "status", status: 404 });
  const failed = await runOnTerminal(["backfill"], environment);
  expect(failed).toMatchObject({ code: 2, screen: expect.stringContaining(`${YELLOW}! backfill partial${PLAIN} in `) });
  expect((await runOnTerminal(["status"], environment)).screen).toContain(`${RED}✗ 1 library fails${PLAIN}\n`);

  for (const { screen } of [
    await runOnTerminal(["check"], { ...environment, NO_COLOR: "1" }),
    await runOnTerminal(["check", "--color", "never"], environment),
  ]) {
    expect(screen).not.toContain(ESCAPE);
    expect(screen).toMatch(/^✓ {2}configuration/m);
  }
});

test("a pipe gets words without colors, unless they are forced; data never has colors", async () => {
  const { simcat } = await fixture([]);
  const forced = { FORCE_COLOR: "1" };
  expect((await simcat(["check"])).stdout).toMatch(/^ok {4}configuration/m);
  expect((await simcat(["check"], forced)).stdout).toContain(`${GREEN}✓${PLAIN}  configuration`);
  const { stdout } = await simcat(["--color", "always", "check"]);
  expect(stripVTControlCharacters(stdout)).toMatch(/^✓ {2}configuration/m);
  for (const args of [
    ["check", "--json"],
    ["sync", "--json"],
    ["status", "--json"],
    ["query", "--csv", "SELECT 1"],
  ]) {
    const { stdout, stderr } = await simcat(args, forced);
    expect(stdout + stderr).not.toContain(ESCAPE);
  }
});

test("another word after --color is a usage error", async () => {
  const { simcat } = await fixture([]);
  expect((await simcat(["check", "--color", "blue"])).code).toBe(64);
  expect((await simcat(["--color", "never", "sync", "--nothing"])).code).toBe(64);
});
