import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture, serve, syncedFixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, NEWER, scenario } from "../support/organization.ts";
import { always, bytes, encoded, padded, redirect, status, text } from "./answers.ts";
import { kept, lastRun, libraryLogLines } from "./run-results.ts";

type Operation = "metadata" | "scenarios";
type Action = FaultAction | readonly FaultAction[];
/** One way in which the content of a library fails, and the code in the log line and in `last_error`. */
type Failing = readonly [code: string, operation: Operation, what: string, action: Action];

const GOOD = ["good 1", "good 2", "good 3", "good 4"];
const RETRIED = ["network", "server_error", "timeout", "truncated"];

/**
 * Stores and edits a library for each failure, lets them fail in a run with four good ones, and checks that nothing of
 * them is overwritten or removed, that the good ones are stored, and that the next run recovers everything.
 */
async function expectFailures(table: readonly Failing[], environment: Readonly<Record<string, string>> = {}) {
  const failing = table.map(([code, operation, what, action]) => ({
    name: `${what} on ${operation}`,
    code,
    operation,
    action,
  }));
  const names = failing.map(({ name }) => name);
  const libraries = [...names, ...GOOD];
  const { call, query, lines, service, asked } = await syncedFixture(
    libraries.map((name) => library("alice", name, { description: "before", scenarios: [1, 2] })),
  );
  const before = await kept(query, names);
  expect(before).toHaveLength(4 * names.length);
  for (const name of libraries) {
    const scenarios = [scenario(1, { scenarioName: "renamed" }), scenario(3)];
    service.change("alice", name, { lastModified: NEWER, description: "after", scenarios });
  }
  service.script(failing.map(({ name, operation, action }) => always({ library: name, operation }, action)));
  asked();

  const ended = await call(["sync"], environment);

  const requests = asked();
  const states = await lines(
    `SELECT library_name, split_part(last_error, ':', 1), bookmark, reread_reason, failures
     FROM simcat.library_sync WHERE library_name <> ALL ($1)`,
    [GOOD],
  );
  expect(states.sort()).toEqual(
    failing.map(({ name, code }) => `${name} ${code} 2023-09-11 at 2:56 PM failure 1`).sort(),
  );
  const timesAsked = failing.map(({ name, operation }) => {
    const path = `/${encodeURIComponent(name)}/${operation}`;
    return [name, requests.filter((line) => line.endsWith(path)).length];
  });
  expect(timesAsked).toEqual(failing.map(({ name, code }) => [name, RETRIED.includes(code) ? 2 : 1]));
  expect(libraryLogLines(ended).sort()).toEqual(failing.map(({ name, code }) => `alice/${name} ${code}`).sort());
  expect(ended.code).toBe(2);
  expect(await lastRun(query)).toMatchObject({
    status: "partial",
    libraries_listed: libraries.length,
    libraries_read: 4,
    libraries_changed: 4,
    libraries_failed: names.length,
    scenarios_inserted: 4,
    scenarios_updated: 4,
    scenarios_removed: 4,
  });
  expect(await kept(query, names)).toEqual(before);
  expect(await query("SELECT FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([]);
  expect(service.violations).toEqual([]);

  service.script([]);
  expect((await call(["sync"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
}

test("a status other than 200 fails its library only (faults 8, 13, 14, 17)", async () => {
  const elsewhere = await serve([library("alice", "Fire")]);
  await expectFailures([
    ["client_error", "scenarios", "400", status(400)],
    ["unauthorized", "scenarios", "401", status(401)],
    ["client_error", "metadata", "403", status(403)],
    ["client_error", "scenarios", "403 with the right body", status(403, { keepBody: true })],
    ["not_found", "scenarios", "404", status(404)],
    ["not_found", "metadata", "410", status(410)],
    ["client_error", "metadata", "422", status(422)],
    ["invalid_response", "scenarios", "201 with the right body", status(201, { keepBody: true })],
    ["invalid_response", "scenarios", "204", status(204)],
    ["invalid_response", "scenarios", "206", status(206, { keepBody: true })],
    ["client_error", "scenarios", "302", redirect(302, `${elsewhere.url}/libs`)],
    ["client_error", "metadata", "308", redirect(308, `${elsewhere.url}/libs`)],
    ["client_error", "scenarios", "redirect without Location", status(302)],
    ["client_error", "metadata", "redirect to itself", redirect(302, "")],
    ["timeout", "scenarios", "408", status(408)],
    ["server_error", "scenarios", "500", status(500)],
    ["server_error", "metadata", "502", status(502)],
    ["server_error", "scenarios", "500 with an empty list", status(500, { body: "[]" })],
    ["invalid_response", "metadata", "600 with the right body", status(600, { keepBody: true })],
  ]);
  expect(elsewhere.requests).toEqual([]);
});

test("a body that is not content is never read as an empty list (faults 6, 10, 11, 41)", async () => {
  const gzipped = gzipSync('[{"scenarioId":1,"scenarioName":"x"}]');
  await expectFailures([
    ["invalid_response", "scenarios", "HTML", { kind: "html" }],
    ["invalid_response", "metadata", "HTML", { kind: "html" }],
    ["invalid_response", "metadata", "an error object", text('{"message":"error"}')],
    ["invalid_response", "scenarios", "null", text("null")],
    ["invalid_response", "scenarios", "a list of error objects", text('[{"message":"error"}]')],
    ["invalid_response", "scenarios", "no body", text("")],
    ["invalid_response", "scenarios", "plain bytes called gzip", encoded("gzip")],
    ["truncated", "scenarios", "gzip without its end", [bytes(gzipped.subarray(0, -10)), encoded("gzip")]],
  ]);
});

test("a truncated answer or headers over 16 KiB fail their library only (faults 3, 21)", async () => {
  await expectFailures([
    ["truncated", "scenarios", "short of its length", { kind: "truncate", how: "length" }],
    ["truncated", "scenarios", "no last chunk", { kind: "truncate", how: "chunked", bytes: 1_000_000 }],
    ["truncated", "scenarios", "closed before the last bracket", { kind: "truncate", how: "close", bytes: -1 }],
    ["network", "scenarios", "a reset before the head", { kind: "reset" }],
    ["invalid_response", "metadata", "17 KiB of headers", padded(17 * 1024)],
  ]);
});

test("a silent or slow server fails its library only, after the time-out (fault 4)", async () => {
  await expectFailures(
    [
      ["timeout", "scenarios", "silent from the start", { kind: "hang" }],
      ["timeout", "metadata", "silent after the head", { kind: "hang", after: "head" }],
      ["timeout", "scenarios", "silent in the body", { kind: "hang", after: 30 }],
    ],
    { SIMCAT_REQUEST_TIMEOUT: "2500ms" },
  );
});

test("a transient failure is retried, and the rows are exact (faults 2, 3, 4, 17)", async () => {
  const scenarios = Array.from({ length: 3_000 }, (_, at) =>
    scenario(at + 1, { description: `burn ${at}`.repeat(10) }),
  );
  const once: [string, Operation, FaultAction][] = [
    ["reset within the list", "scenarios", { kind: "reset", afterBytes: 200_000 }],
    ["reset within the metadata", "metadata", { kind: "reset", afterBytes: 30 }],
    ["short of its length", "scenarios", { kind: "truncate", how: "length", bytes: 300_000 }],
    ["chunks without their end", "scenarios", { kind: "truncate", how: "chunked", bytes: 300_000 }],
    ["ended by the close", "scenarios", { kind: "truncate", how: "close", bytes: 300_000 }],
    ["silent within the list", "scenarios", { kind: "hang", after: 100_000 }],
    ["500", "metadata", status(500)],
    ["503", "scenarios", status(503)],
  ];
  const { call, query, lines, service } = await fixture(once.map(([name]) => library("alice", name, { scenarios })));
  service.script([
    { match: { operation: "listing" }, action: { kind: "truncate" } },
    ...once.map(([name, operation, action]) => ({ match: { library: name, operation }, action })),
  ]);

  const { code } = await call(["sync"], { SIMCAT_REQUEST_TIMEOUT: "5s" });

  expect(code).toBe(0);
  expect(await lastRun(query)).toEqual({
    status: "ok",
    libraries_listed: 8,
    libraries_read: 8,
    libraries_changed: 8,
    scenarios_inserted: 24_000,
    retries: 9,
  });
  const rows = await lines(
    `SELECT library_name, count(*), count(DISTINCT scenario_id),
       bool_and(description = repeat('burn ' || scenario_id - 1, 10)) FROM simcat.scenarios GROUP BY 1`,
  );
  expect(rows.sort()).toEqual(once.map(([name]) => `${name} 3000 3000 true`).sort());
});

test("a request on a reused connection that closes is retried without a warning (fault 5)", async () => {
  const { call, lines, service } = await fixture(["a", "b"].map((name) => library("alice", name, { scenarios: [1] })));
  service.once({ operation: "listing" }, { kind: "closeKeepAlive", when: "nextRequest" });

  const { code, stderr } = await call(["sync"], { SIMCAT_CONCURRENCY: "1" });

  expect(code).toBe(0);
  expect(stderr).not.toContain('"warn"');
  expect(await lines("SELECT status, retries, requests FROM simcat.sync_runs")).toEqual(["ok 1 6"]);
  expect(await lines("SELECT count(*) FROM simcat.scenarios")).toEqual(["2"]);
});

test("gzip, a byte order mark, white space and any Content-Type are read normally (faults 6, 7)", async () => {
  const scenarios = [scenario(1, { description: "\ufeffé🌲" }), scenario(2)];
  const list = JSON.stringify(scenarios);
  const forms: [string, Operation, Action][] = [
    ["gzip in gzip", "scenarios", [bytes(gzipSync(gzipSync(list))), encoded("gzip, gzip")]],
    ["marked list", "scenarios", { kind: "bom" }],
    ["marked metadata", "metadata", { kind: "bom" }],
    ["blanks", "scenarios", text(` \r\n\t${list.replaceAll(",", " ,\n\t ")} \n`)],
    ["no type", "scenarios", { kind: "wrongBody", body: list, contentType: null }],
    ["a wrong type", "metadata", { kind: "wrongBody", body: '\n{ "fileSize" : "1 MB" }\n', contentType: "text/html" }],
  ];
  const { call, lines, service } = await fixture(forms.map(([name]) => library("alice", name, { scenarios })));
  service.script([
    { match: { operation: "listing" }, action: { kind: "bom" } },
    ...forms.map(([name, operation, action]) => ({ match: { library: name, operation }, action })),
  ]);

  expect((await call(["sync"])).code).toBe(0);
  const stored = "SELECT scenario_id, description, count(*) FROM simcat.scenarios GROUP BY 1, 2 ORDER BY 1";
  expect(await lines(stored)).toEqual(["1 \ufeffé🌲 6", "2 NULL 6"]);
});
