import { expect, test } from "vitest";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { ROWS_OF_RUNS, rowVersions } from "../support/row-versions.ts";
import { lastRun, logLines } from "./run-results.ts";

test("a refused connection or an unknown host name ends the run after bounded retries (fault 1)", async () => {
  const { call, query } = await syncedFixture([library("alice", "Fire", { scenarios: [1] })]);
  const before = await rowVersions(query, ROWS_OF_RUNS);

  const refused = await call(["sync"], {
    SIMCAT_BASE_URL: "http://127.0.0.1:1/v1/",
    SIMCAT_MAX_RETRIES: "2",
  });
  const refusedRun = await lastRun(query);
  const unknown = await call(["sync"], { SIMCAT_BASE_URL: "https://simcat.invalid/v1/" });

  expect([refused.code, unknown.code]).toEqual([69, 69]);
  expect(refusedRun).toEqual({ status: "source_unavailable", retries: 2 });
  expect(await lastRun(query)).toEqual({ status: "source_unavailable", retries: 1 });
  expect(logLines(refused).at(-1)).toMatchObject({ code: "source_unavailable", status: "source_unavailable" });
  expect(refused.stdout).toContain("after 3 attempts");
  expect(unknown.stdout).toContain("asked https://simcat.invalid/v1/libs");
  expect(await rowVersions(query, ROWS_OF_RUNS)).toEqual(before);
});
