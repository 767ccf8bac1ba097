import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type Fixture, fixture, serve, syncedFixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { ROWS_OF_RUNS, rowVersions } from "../support/row-versions.ts";
import { bytes, encoded, padded, redirect, retryAfter, status, text } from "./answers.ts";
import { lastRun, logLines } from "./run-results.ts";

/** An unusable or unavailable listing, and a text that the summary and the log line have. */
type Unlisted = readonly [what: string, action: FaultAction | readonly FaultAction[], says: string];

type Ending = "source_untrusted" | "source_unavailable" | "unauthorized";
const EXIT: Readonly<Record<Ending, number>> = { source_untrusted: 76, source_unavailable: 69, unauthorized: 77 };

/** Three stored libraries; since then one was removed, one edited, one added: accepting a listing would change rows. */
async function changedOrganization(): Promise<Fixture> {
  const made = await syncedFixture([
    library("alice", "edited", { scenarios: [1] }),
    library("alice", "vanished", { scenarios: [1] }),
    library("alice", "same", { scenarios: [1] }),
  ]);
  made.service.change("alice", "edited", { lastModified: "2030-01-02 at 3:04 PM" });
  made.service.remove("alice", "vanished");
  made.service.put(library("alice", "new"));
  return made;
}

/** Checks for each listing how the run ends, that it asked for the listing so many times, and that no row changed. */
async function expectEndings(
  ending: Ending,
  times: number,
  table: readonly Unlisted[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { call, query, service, asked } = await changedOrganization();
  const before = await rowVersions(query, ROWS_OF_RUNS);
  const outcomes = [];
  for (const [what, action, says] of table) {
    service.always({ operation: "listing" }, action);
    const ended = await call(["sync"], environment);
    const last = logLines(ended).at(-1);
    outcomes.push({
      what,
      exit: ended.code,
      run: await lastRun(query),
      log: { code: last?.code, status: last?.status },
      said: ended.stdout.includes(says) && String(last?.error).includes(says) ? says : ended.stdout,
      asked: asked(),
      rows: (await rowVersions(query, ROWS_OF_RUNS)).length,
    });
  }
  expect(outcomes).toEqual(
    table.map(([what, , says]) => ({
      what,
      exit: EXIT[ending],
      run: { status: ending, ...(times > 1 ? { retries: times - 1 } : {}) },
      log: { code: ending, status: ending },
      said: says,
      asked: Array.from({ length: times }, () => "GET /libs"),
      rows: before.length,
    })),
  );
  expect(await rowVersions(query, ROWS_OF_RUNS)).toEqual(before);
}

test("401 and 403 on the listing end the run as unauthorized and name what to check (faults 12, 45)", async () => {
  await expectEndings("unauthorized", 1, [
    ["401", status(401), "check SIMCAT_API_KEY"],
    ["401 with the list", status(401, { keepBody: true }), "answered 401"],
    ["401 with Retry-After", retryAfter(401, "0"), "refused the key"],
    ["403 as a page", [{ kind: "html" }, status(403, { keepBody: true })], "check SIMCAT_API_KEY"],
  ]);
});

test("an answer that is not the listing ends the run after one request (faults 8, 10, 11, 15, 41, 45)", async () => {
  const elsewhere = await serve([library("alice", "Fire")]);
  const host = new URL(elsewhere.url).host;
  const bomb = bytes(gzipSync(`[${" ".repeat(30_000_000)}]`));
  await expectEndings(
    "source_untrusted",
    1,
    [
      ["400", status(400), "answered 400"],
      ["404", status(404), "does it end with the version"],
      ["600", status(600), "answered 600"],
      ["201 with the list", status(201, { keepBody: true }), "answered 201"],
      ["204", status(204), "answered 204"],
      ["206 with the list", status(206, { keepBody: true }), "answered 206"],
      ["302", redirect(302, `${elsewhere.url}/libs`), `a redirect to ${host} `],
      ["301", redirect(301, `${elsewhere.url}/libs`), "it was not followed, so that the key stays here"],
      ["308", redirect(308, `//${host}/libs`), `a redirect to ${host}`],
      ["304, which is no redirect", status(304), "answered 304 (asked "],
      ["a redirect to itself", redirect(302, "/libs"), "a redirect to 127.0.0.1"],
      ["a redirect to nowhere", status(302), "without a Location"],
      ["HTML", { kind: "html" }, "HTML"],
      ["an error object", text('{"message":"error"}'), "an object"],
      ["no body", text(""), "an empty answer"],
      ["headers over the limit", padded(128 * 1024), "headers over the limit"],
      ["a gzip bomb", [bomb, encoded("gzip")], "raise SIMCAT_MAX_BODY if the organization is that large"],
    ],
    { SIMCAT_MAX_BODY: "1MiB" },
  );
  expect(elsewhere.requests).toEqual([]);
});

test("a listing that fails in all attempts ends as source_unavailable (faults 1, 3, 4, 17, 45, 305)", async () => {
  await expectEndings(
    "source_unavailable",
    2,
    [
      ["408", status(408), "the service is down or the base URL"],
      ["429", status(429), "the service asks for fewer requests: run again later"],
      ["503", status(503), "answered 503 after 2 attempts"],
      ["500 with an empty list", status(500, { body: "[]" }), "answered 500"],
      ["short of its length", { kind: "truncate" }, "was cut short"],
      ["short of its length: the hint", { kind: "truncate" }, "); check whether the service, or a proxy"],
      ["a reset before the head", { kind: "reset" }, "failed"],
      ["silence after the head", { kind: "hang", after: "head" }, "timed out after 2 attempts"],
      ["silence after the head: the hint", { kind: "hang", after: "head" }, "2 s); the service is down, slower than"],
    ],
    { SIMCAT_REQUEST_TIMEOUT: "2s" },
  );
});

test("a listing's Retry-After over SIMCAT_MAX_RETRY_WAIT ends the run at once (fault 18)", async () => {
  const says = "longer than SIMCAT_MAX_RETRY_WAIT";
  const refusals: Unlisted[] = [
    ["429", retryAfter(429, "3"), says],
    ["503", retryAfter(503, "3600"), says],
  ];
  await expectEndings("source_unavailable", 1, refusals, { SIMCAT_MAX_RETRY_WAIT: "2s" });
});

test("the base URL works with and without its slash; a wrong one is reported as requested (fault 15)", async () => {
  const { call, service, asked, query } = await fixture([library("alice", "Fire")], { pathPrefix: "/api/v1" });
  const origin = new URL(service.url).origin;
  const run = async (path: string) => {
    const { code, stdout } = await call(["sync"], { SIMCAT_BASE_URL: origin + path });
    const listings = asked().filter((line) => line.endsWith("/libs"));
    return { code, asked: listings, isNamed: stdout.includes(`asked ${origin}${path}`) };
  };

  expect(await run("/api/v1")).toEqual({ code: 0, asked: ["GET /api/v1/libs"], isNamed: false });
  expect(await run("/api/v1/")).toEqual({ code: 0, asked: ["GET /api/v1/libs"], isNamed: false });
  expect(await run("/api/v2/")).toEqual({ code: 76, asked: ["GET /api/v2/libs"], isNamed: true });
  expect(await run("/")).toEqual({ code: 76, asked: ["GET /libs"], isNamed: true });
  expect(await query("SELECT removed_at FROM simcat.libraries")).toEqual([{ removed_at: null }]);
});
