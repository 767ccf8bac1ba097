import { expect, test } from "vitest";
import { OTHER_HOST, OWN_HOST } from "../service/certificate.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { ROWS_OF_RUNS, rowVersions } from "../support/row-versions.ts";
import { libraries } from "./removals.ts";
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

test.each([
  ["of an unknown authority", OWN_HOST, {}, "NODE_EXTRA_CA_CERTS"],
  ["of an unknown authority, although http is allowed", OWN_HOST, { SIMCAT_ALLOW_HTTP: "true" }, "does not verify"],
  ["of a trusted authority for another host", OTHER_HOST, "trusted", "the certificate does not verify"],
] as const)("a certificate %s fails closed without a request or a retry (fault 20)", async (_, tls, more, says) => {
  const { simcat, call, query, asked } = await fixture([library("alice", "Fire")], { tls });

  const ended =
    more === "trusted" ? await simcat(["sync"], { NODE_EXTRA_CA_CERTS: tls.path }) : await call(["sync"], more);

  expect(ended.code).toBe(69);
  expect(asked()).toEqual([]);
  expect(await lastRun(query)).toEqual({ status: "source_unavailable" });
  expect(logLines(ended).at(-1)?.code).toBe("source_unavailable");
  expect(ended.stdout).toContain(says);
});

test("a certificate of the authority that NODE_EXTRA_CA_CERTS names is accepted (fault 20)", async () => {
  const { simcat, asked } = await fixture([library("alice", "Fire")], { tls: OWN_HOST });

  expect((await simcat(["sync"], { NODE_EXTRA_CA_CERTS: OWN_HOST.path })).code).toBe(0);
  expect(asked()).toHaveLength(3);
});

test("a program that cannot open all its files ends and names the limit (fault 25)", async () => {
  const limited = ["-c", 'ulimit -n 32; exec "$0" "$@"', process.execPath, MAIN, "sync"];
  const stderr = expect.stringMatching(/^simcat: raise the limit \(ulimit -n\) \(EMFILE: too many open files.*\)\n$/);
  expect(await startProgram("sh", limited, {}, { patienceMs: 10_000 }).ended).toMatchObject({ code: 78, stderr });
});

test("a run that can open too few connections ends at once and names the limit (fault 25)", async () => {
  const made = await fixture(libraries("alice", 0, 300));
  made.service.always({ pathPattern: "metadata$|scenarios$" }, { kind: "delay", ms: 200 });
  const limited = ["-c", 'ulimit -n 250; exec "$0" "$@"', process.execPath, MAIN, "sync"];
  const { code, stdout } = await startProgram("sh", limited, { ...made.environment, SIMCAT_CONCURRENCY: "500" }).ended;
  expect(code).toBe(69);
  expect(stdout).toContain("raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY");
  // On a busy machine, a connection to the database may be the first without a descriptor.
  const { status } = await lastRun(made.query);
  if (status === "database_failed") expect(stdout).toContain("(EMFILE); too many open files; ");
  else expect([status, stdout]).toEqual(["source_unavailable", expect.stringContaining("open files on this machine")]);
});
