import { expect, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { libraries } from "./removals.ts";
import { lastRun } from "./run-results.ts";

test("a run that can open too few connections ends at once and names the limit (fault 25)", async () => {
  const made = await fixture(libraries("alice", 0, 300));
  made.service.always({ pathPattern: "metadata$|scenarios$" }, { kind: "delay", ms: 200 });
  const limited = ["-c", 'ulimit -n 250; exec "$0" "$@"', process.execPath, MAIN, "sync"];
  const { code, stdout } = await startProgram("sh", limited, { ...made.environment, SIMCAT_CONCURRENCY: "500" }).ended;
  expect(code).toBe(69);
  expect(stdout).toContain("too many open files on this machine");
  expect(stdout).toContain("raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY");
  expect(await lastRun(made.query)).toMatchObject({ status: "source_unavailable" });
});
