import { expect, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { lastRun } from "./run-results.ts";

/** Runs `simcat sync` in a process with this limit on open files. */
function syncWithin(files: number, environment: Readonly<Record<string, string>>) {
  const script = `ulimit -n ${files}; exec "$0" "$@"`;
  return startProgram("sh", ["-c", script, process.execPath, MAIN, "sync"], environment).ended;
}

const LIBRARIES = Array.from({ length: 300 }, (_, at) => library("alice", `lib ${at}`));

test("a run that can open too few connections ends at once and names the limit (fault 25)", async () => {
  const made = await fixture(LIBRARIES);
  made.service.always({ pathPattern: "metadata$|scenarios$" }, { kind: "delay", ms: 200 });
  const { code, stdout } = await syncWithin(250, { ...made.environment, SIMCAT_CONCURRENCY: "500" });
  expect(code).toBe(69);
  expect(stdout).toContain("too many open files on this machine");
  expect(stdout).toContain("raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY");
  expect(await lastRun(made.query)).toMatchObject({ status: "source_unavailable" });
});
