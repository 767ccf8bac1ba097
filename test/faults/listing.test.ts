import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { serve } from "../mock/service.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { everything, lastRun, logLines } from "./run-results.ts";

// Many consecutive runs, each of which can be slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

/** An unusable or unavailable listing, and how the run ends. */
interface Unlisted {
  readonly what: string;
  readonly action: FaultAction | readonly FaultAction[];
  readonly asked: number;
  /** Expected in the summary and in the log line. */
  readonly says: string;
}

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

/** Checks NZ and NODEL for each case, one run after the other; no stored row changes. The first one starts a process. */
async function expectEndings(
  { simcat, call, query, service, asked }: Fixture,
  ending: Ending,
  table: readonly Unlisted[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const before = await everything(query);
  const outcomes = [];
  for (const [at, { what, action, says }] of table.entries()) {
    service.always({ operation: "listing" }, action);
    const ended = await (at === 0 ? simcat : call)(["sync"], environment);
    const last = logLines(ended).at(-1);
    outcomes.push({
      what,
      exit: ended.code,
      run: await lastRun(query),
      log: { code: last?.code, status: last?.status },
      said: ended.stdout.includes(says) && String(last?.error).includes(says) ? says : ended.stdout,
      asked: asked(),
      moved: (await everything(query)).length === before.length ? null : "rows",
    });
  }
  expect(outcomes).toEqual(
    table.map(({ what, asked: times, says }) => ({
      what,
      exit: EXIT[ending],
      run: { status: ending, ...(times > 1 ? { retries: times - 1 } : {}) },
      log: { code: ending, status: ending },
      said: says,
      asked: Array.from({ length: times }, () => "GET /libs"),
      moved: null,
    })),
  );
  expect(await everything(query)).toEqual(before);
}

const status = (code: number, headers: Record<string, string> = {}): FaultAction => ({
  kind: "status",
  status: code,
  headers,
});
const text = (body: string): FaultAction => ({ kind: "wrongBody", text: body });

test("401 and 403 on the listing end the run as unauthorized and name what to check (faults 12, 45)", async () => {
  await expectEndings(await changedOrganization(), "unauthorized", [
    { what: "401", action: status(401), asked: 1, says: "check SIMCAT_API_KEY" },
    { what: "403", action: status(403), asked: 1, says: "check SIMCAT_API_KEY" },
    {
      what: "401 with the list",
      action: { kind: "status", status: 401, keepBody: true },
      asked: 1,
      says: "answered 401",
    },
    { what: "401 with Retry-After", action: status(401, { "retry-after": "0" }), asked: 1, says: "refused the key" },
    {
      what: "403 as a page",
      action: [{ kind: "html" }, { kind: "status", status: 403, keepBody: true }],
      asked: 1,
      says: "answered 403",
    },
  ]);
});

test("4xx on the listing ends the run after one request, without any change (faults 15, 16, 45)", async () => {
  const untrusted = (code: number) => ({ what: `${code}`, action: status(code), asked: 1, says: `answered ${code}` });
  await expectEndings(await changedOrganization(), "source_untrusted", [
    untrusted(400),
    { what: "404", action: status(404), asked: 1, says: "does it end with the version" },
    untrusted(405),
    untrusted(410),
    untrusted(422),
    untrusted(451),
    untrusted(600),
  ]);
});

test("a success other than 200 is not a listing, whatever its body (fault 45)", async () => {
  const other = (code: number) => ({
    what: `${code}`,
    action: { kind: "status", status: code, keepBody: true } as const,
    asked: 1,
    says: `answered ${code}`,
  });
  await expectEndings(await changedOrganization(), "source_untrusted", [
    other(201),
    other(202),
    { what: "204", action: status(204), asked: 1, says: "answered 204" },
    { what: "205", action: status(205), asked: 1, says: "answered 205" },
    other(206),
  ]);
});

test("a redirect of the listing is not followed, so the key is not sent elsewhere (faults 8, 9)", async () => {
  const elsewhere = await serve([library("alice", "Fire")]);
  const host = new URL(elsewhere.url).host;
  const organization = await changedOrganization();
  const to = (code: number) => ({
    what: `${code}`,
    action: { kind: "redirect", status: code, location: `${elsewhere.url}/libs` } as const,
    asked: 1,
    says: `a redirect to ${host}`,
  });
  await expectEndings(organization, "source_untrusted", [
    to(301),
    to(302),
    to(303),
    to(307),
    to(308),
    { what: "304", action: status(304), asked: 1, says: "answered 304" },
    { what: "to itself", action: { kind: "redirect", location: "/libs" }, asked: 1, says: "a redirect to 127.0.0.1" },
    { what: "nowhere", action: { kind: "redirect", location: null }, asked: 1, says: "without a Location" },
    { what: "to no URL", action: { kind: "redirect", location: "http://[" }, asked: 1, says: "a redirect to http://[" },
    {
      what: "without a scheme",
      action: { kind: "redirect", location: `//${host}/libs` },
      asked: 1,
      says: `a redirect to ${host}`,
    },
  ]);
  expect(elsewhere.requests).toEqual([]);
});

test("a listing of the wrong shape is rejected: nothing is stored or removed (faults 10, 11, 41, 45)", async () => {
  const entry = '{"libraryName":"same","uploadUser":"alice","lastModified":"2023-09-11 at 2:56 PM"}';
  const wrong = (what: string, action: FaultAction | readonly FaultAction[], says: string) => ({
    what,
    action,
    asked: 1,
    says,
  });
  await expectEndings(await changedOrganization(), "source_untrusted", [
    wrong("HTML", { kind: "html" }, "HTML"),
    wrong("an error object", text('{"message":"error"}'), "an object"),
    wrong("a single library", text(entry), "an object"),
    wrong("a wrapped list", text(`{"libraries":[${entry}]}`), "an object"),
    wrong("null", text("null"), "null"),
    wrong("a string", text('"[]"'), "where a list belongs"),
    wrong("nothing", text(""), "an empty answer"),
    wrong("a list of error objects", text('[{"message":"error"}]'), "without one field of a library"),
    wrong("a list of numbers", text("[1,2]"), "without one field of a library"),
    wrong("placeholders", { kind: "placeholder" }, "placeholder words"),
    wrong("placeholders in a list", { kind: "placeholder", inList: true }, "placeholder words"),
    wrong("a comma too many", text(`[${entry},]`), "no item"),
    wrong("more behind the list", text(`[${entry}]{}`), "behind the end of the list"),
    wrong("an entry that is no JSON", text("[{'libraryName':'same'}]"), "not well-formed JSON"),
    wrong("a byte that UTF-8 never has", { kind: "invalidUtf8" }, "UTF-8"),
    wrong("plain bytes called gzip", { kind: "badGzip" }, "are not gzip"),
    wrong("an unknown encoding", { kind: "unknownEncoding" }, "x-unheard-of"),
    wrong("headers over the limit", { kind: "hugeHeaders" }, "headers over the limit"),
  ]);
});

test("a listing that fails in all attempts ends as source_unavailable (faults 1, 3, 17, 45)", async () => {
  const gzipped = gzipSync(Buffer.from("[]")).subarray(0, 15).toString("base64");
  const down = (what: string, action: FaultAction | readonly FaultAction[], says: string) => ({
    what,
    action,
    asked: 2,
    says,
  });
  await expectEndings(await changedOrganization(), "source_unavailable", [
    down("408", status(408), "answered 408"),
    down("429", status(429), "answered 429"),
    down("500", status(500), "answered 500"),
    down("503", status(503), "answered 503 after 2 attempts"),
    down("599", status(599), "answered 599"),
    down("500 with an empty list", { kind: "status", status: 500, body: "[]" }, "answered 500"),
    down("short of its length", { kind: "truncate" }, "was cut short"),
    down("chunks without their end", { kind: "truncate", how: "chunked" }, "was cut short"),
    down("ended by the close", { kind: "truncate", how: "close" }, "was cut short"),
    down("ended by the close before the first byte", { kind: "truncate", how: "close", bytes: 0 }, "was cut short"),
    down(
      "gzip without its end",
      [
        { kind: "wrongBody", base64: gzipped },
        { kind: "headers", set: { "content-encoding": "gzip" } },
      ],
      "was cut short",
    ),
    down("a reset before the head", { kind: "reset" }, "failed"),
    down("a reset in the body", { kind: "reset", afterBytes: 10 }, "failed"),
  ]);
});

test("a listing that hangs or trickles ends as source_unavailable after the time-outs (faults 4, 45)", async () => {
  const silent = (what: string, action: FaultAction) => ({
    what,
    action,
    asked: 2,
    says: "timed out after 2 attempts",
  });
  await expectEndings(
    await changedOrganization(),
    "source_unavailable",
    [
      silent("silence", { kind: "hang" }),
      silent("silence behind the head", { kind: "hang", after: "head" }),
      silent("one byte a second", { kind: "drip", bytes: 1, everyMs: 1000 }),
    ],
    { SIMCAT_REQUEST_TIMEOUT: "600ms" },
  );
});

test("a listing's Retry-After over SIMCAT_MAX_RETRY_WAIT ends the run at once (fault 18)", async () => {
  const asks = (what: string, action: FaultAction) => ({
    what,
    action,
    asked: 1,
    says: "longer than SIMCAT_MAX_RETRY_WAIT",
  });
  await expectEndings(
    await changedOrganization(),
    "source_unavailable",
    [
      asks("429", status(429, { "retry-after": "3" })),
      asks("503", status(503, { "retry-after": "3" })),
      asks("a date", status(429, { "retry-after": "Fri, 31 Dec 2100 23:59:59 GMT" })),
    ],
    { SIMCAT_MAX_RETRY_WAIT: "2s" },
  );
});

test("the base URL works with and without its slash; a wrong one is reported as requested (fault 15)", async () => {
  const { simcat, service, asked, query } = await fixture([library("alice", "Fire")], { pathPrefix: "/api/v1" });
  const origin = new URL(service.url).origin;
  const run = async (path: string) => {
    const { code, stdout } = await simcat(["sync"], { SIMCAT_BASE_URL: origin + path });
    return {
      path,
      code,
      asked: asked().filter((line) => line.endsWith("/libs")),
      told: stdout.includes(`asked ${origin}${path}`),
    };
  };

  expect(await run("/api/v1")).toEqual({ path: "/api/v1", code: 0, asked: ["GET /api/v1/libs"], told: false });
  expect(await run("/api/v1/")).toEqual({ path: "/api/v1/", code: 0, asked: ["GET /api/v1/libs"], told: false });
  expect(await run("/api/v2/")).toEqual({ path: "/api/v2/", code: 76, asked: ["GET /api/v2/libs"], told: true });
  expect(await run("/api")).toEqual({ path: "/api", code: 76, asked: ["GET /api/libs"], told: true });
  expect(await run("/")).toEqual({ path: "/", code: 76, asked: ["GET /libs"], told: true });
  expect(await query("SELECT removed_at FROM simcat.libraries")).toEqual([{ removed_at: null }]);
});
