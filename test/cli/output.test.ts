import { closeSync, openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

/** Refuses every write with ENOSPC, like a file on a full disk. */
const FULL = "/dev/full";

const ORGANIZATION = [library("alice", "Fire", { scenarios: [1] })];

test
  .runIf(process.platform === "linux")
  .each([
    [["--version"]],
    [["--help"]],
    [["sync", "--help"]],
    [["sync"]],
    [["sync", "--dry-run"]],
    [["status"]],
    [["status", "--json"]],
    [["check"]],
    [["migrate"]],
    [["mock", "--port", "0"]],
  ])("%j exits with 1 if standard output cannot be written (fault 121)", async (args) => {
  const { environment } = await fixture(ORGANIZATION);
  const full = openSync(FULL, "w");
  onTestFinished(() => closeSync(full));
  const settings = { ...environment, SIMCAT_LOG_LEVEL: "error", SIMCAT_LOG_FORMAT: "pretty" };
  const program = startProgram(process.execPath, [MAIN, ...args], settings, { stdio: ["ignore", full, "pipe"] });
  const { code, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: "simcat: standard output cannot be written: ENOSPC: no space left on device, write\n",
  });
});

test("a run whose summary cannot be written is complete in the database (fault 121)", async () => {
  const { environment, query } = await fixture(ORGANIZATION);
  const full = openSync(FULL, "w");
  onTestFinished(() => closeSync(full));
  const program = startProgram(process.execPath, [MAIN, "sync"], environment, { stdio: ["ignore", full, "pipe"] });
  const { code, stderr } = await program.ended;
  expect(code).toBe(1);
  expect(JSON.parse(stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({ level: "error", code: "output_failed" });
  expect(await query("SELECT status FROM simcat.sync_runs")).toEqual([{ status: "ok" }]);
});

test.each([[["--help"]], [["status"]], [["status", "--json"]]])(
  "%j ignores a reader that closed its pipe (fault 121)",
  async (args) => {
    const { environment } = await fixture(ORGANIZATION);
    // `true` exits without reading. The delay lets it exit first.
    const script = '(sleep 0.3; "$@"; echo "$?" >&2) | true';
    const { stderr } = await startProgram("bash", ["-c", script, "-", process.execPath, MAIN, ...args], environment)
      .ended;
    expect(stderr).toBe("0\n");
  },
);
