import { closeSync, openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

/** Refuses every write with ENOSPC, like a file on a full disk. */
const FULL = "/dev/full";

test.runIf(process.platform === "linux").each([[["sync", "--help"]], [["sync"]], [["mock", "--port", "0"]]])(
  "%j exits with 1 if standard output cannot be written; a run is complete in the database (fault 121)",
  async (args) => {
    const { environment, query } = await fixture([library("alice", "Fire", { scenarios: [1] })]);
    const full = openSync(FULL, "w");
    onTestFinished(() => closeSync(full));
    const settings = { ...environment, SIMCAT_LOG_LEVEL: "error", SIMCAT_LOG_FORMAT: "pretty" };
    const program = startProgram(process.execPath, [MAIN, ...args], settings, { stdio: ["ignore", full, "pipe"] });
    const { code, stderr } = await program.ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "simcat: standard output cannot be written: ENOSPC: no space left on device, write\n",
    });
    const isRun = args[0] === "sync" && args.length === 1;
    expect(await query("SELECT status FROM simcat.sync_runs")).toEqual(isRun ? [{ status: "ok" }] : []);
  },
);
