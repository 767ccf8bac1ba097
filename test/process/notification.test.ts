import { createHmac } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { postMessage } from "../../src/cli/webhook.ts";
import { addRows } from "../reporting/stored-rows.ts";
import { API_KEY, type Fixture, fixture } from "../support/fixture.ts";
import { listen } from "../support/listen.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const WRONG_KEY = { SIMCAT_API_KEY: "a-wrong-key" };
const SECRET_PATH = "/services/T0KEN-0F-THE-H00K";

/** A web hook that answers with these statuses, the last one for all further posts. */
async function hook(...statuses: readonly number[]) {
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(statuses[received.length - 1] ?? statuses.at(-1) ?? 200).end();
  });
  const url = `http://127.0.0.1:${await listen(server)}${SECRET_PATH}`;
  const messages = () => received.map(({ body }) => JSON.parse(body));
  return { url, received, messages };
}

let made: Fixture;

beforeEach(async () => {
  made = await fixture([library("ann", "forest", { scenarios: [1] })]);
});

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

/** Runs of everything, by their status and the minutes since their end: `ok 40, failed 20`. */
async function addRuns(runs: string): Promise<void> {
  const rows = runs.split(", ").map((run, at) => {
    const [status, minutes] = run.split(" ");
    const ended = minutesAgo(Number(minutes));
    return { id: at + 1, status, started_at: ended, finished_at: ended, libraries_skipped: 1 };
  });
  await addRows(made.database, "sync_runs", rows);
  await made.query("SELECT setval(pg_get_serial_sequence('simcat.sync_runs', 'id'), 100)");
}

/** One run with the service's key, or with another one, which the service refuses. */
const sync = (url: string, isGood: boolean, ...args: readonly string[]) =>
  made.call(["sync", ...args], { SIMCAT_NOTIFY_URL: url, SIMCAT_LOG_FORMAT: "json", ...(isGood ? {} : WRONG_KEY) });

/** A worker with a run each second, and these settings. */
const startWorker = (settings: Readonly<Record<string, string>>) => {
  const worker = { SIMCAT_SCHEDULE: "* * * * * *", SIMCAT_HTTP_PORT: "0", SIMCAT_LOG_FORMAT: "json" };
  return made.start(["start"], { ...worker, ...settings });
};

describe("a run by cron", () => {
  test("sends a message when the copy stops and starts being good, signed with the URL", async () => {
    const { url, received, messages } = await hook(200);
    expect(await sync(url, true)).toMatchObject({ code: 0 });
    expect(messages()).toEqual([]);

    const { code, stderr } = await sync(url, false);
    expect(code).toBe(77);
    expect(stderr).not.toContain(SECRET_PATH);
    expect(messages()).toEqual([
      {
        text: expect.stringMatching(/^simcat: the copy is not good: run 2 ended with unauthorized: .*401/),
        good: false,
        run_id: 2,
        status: "unauthorized",
        error: expect.stringContaining("401"),
        sent_at: expect.stringMatching(/Z$/),
        version: expect.any(String),
      },
    ]);
    const [{ headers, body } = { headers: {}, body: "" }] = received;
    const signature = createHmac("sha256", url).update(body).digest("hex");
    expect(headers).toMatchObject({ "content-type": "application/json", "x-simcat-signature": `sha256=${signature}` });

    expect(await sync(url, false)).toMatchObject({ code: 77 });
    expect(messages()).toHaveLength(1);
  });

  test.each([
    ["a good run after a failed one", "ok 40, unauthorized 20", true, true],
    ["a good run within 15 minutes of the last message", "ok 40, unauthorized 10", true, false],
    ["a good run later, if the change itself came too early", "ok 40, failed 20, ok 10", true, true],
    ["a failed run that follows a failed one", "ok 40, source_unavailable 20", false, false],
    ["a failed run after an interrupted one", "ok 40, interrupted 20", false, true],
    ["a failed run that follows none", "", false, true],
    ["a good run that follows none", "", true, false],
    ["a good run after partial and held ones", "partial 40, held 20", true, false],
  ])("judges %s by the runs before it: %s minutes ago", async (_, runs, isGood, isTold) => {
    const { url, messages } = await hook(200);
    if (runs !== "") await addRuns(runs);
    await sync(url, isGood);
    // Not "good again": the first run may have failed (fault 312).
    const said = messages().map(({ good, text }) => [good, text.slice(0, text.indexOf(": run") + 1)]);
    expect(said).toEqual(isTold ? [[isGood, `simcat: the copy is ${isGood ? "good" : "not good"}:`]] : []);
  });

  test("sends nothing about a run of a selection", async () => {
    const { url, messages } = await hook(200);
    await addRuns("ok 40");
    await sync(url, false, "--owner", "ann");
    expect(messages()).toEqual([]);
  });

  test("tries again, and a hook that refuses or does not exist changes neither the end of the run nor its code", async () => {
    const flaky = await hook(500, 503, 204);
    expect(await sync(flaky.url, false)).toMatchObject({ code: 77 });
    expect(flaky.messages()).toHaveLength(3);

    await made.query("TRUNCATE simcat.sync_runs CASCADE");
    const { code, stderr } = await sync(`http://127.0.0.1:1${SECRET_PATH}`, false);
    expect(code).toBe(77);
    expect(stderr).toContain('"code":"notification_failed"');
    expect(stderr).not.toContain(SECRET_PATH);
  });
});

test("a web hook whose answer has no end has received the message once", async () => {
  let posts = 0;
  const server = createServer((_, response) => {
    posts += 1;
    response.writeHead(200).write("endless");
  });

  const { code, stderr } = await sync(`http://127.0.0.1:${await listen(server)}/`, false);

  expect({ code, posts }).toEqual({ code: 77, posts: 1 });
  expect(stderr).not.toContain("notification_failed");
});

test("sends the user and the password of the URL as Basic authorization, as curl does (fault 247)", async () => {
  const { url, received } = await hook(500, 200);

  const { stderr } = await sync(url.replace("//", "//us%40er:pass%20word@"), false);

  const authorization = `Basic ${btoa("us@er:pass word")}`;
  expect(received.map(({ headers }) => headers.authorization)).toEqual([authorization, authorization]);
  expect(stderr).not.toContain("notification_failed");
});

test("goes through the proxy of a .env, but not to loopback; no signal ends an attempt (fault 228)", async () => {
  const asked: (string | undefined)[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url);
    response.end();
  });
  const environment = { HTTP_PROXY: `http://127.0.0.1:${await listen(proxy)}` };
  const { url, received } = await hook(200);
  const signal = AbortSignal.abort();

  await postMessage("http://hooks.test/path", {}, environment, signal);
  await postMessage(url, {}, environment, signal);

  expect(asked).toEqual(["http://hooks.test/path"]);
  expect(received).toHaveLength(1);
});

test("posts again after 5 s without an answer, also when garbage is collected meanwhile (fault 228)", async () => {
  let posts = 0;
  const server = createServer((_, response) => {
    posts += 1;
    if (posts > 1) response.end();
  });
  const url = `http://127.0.0.1:${await listen(server)}${SECRET_PATH}`;
  setFlagsFromString("--expose-gc");
  const collecting = setInterval(runInNewContext("gc"), 200);

  await postMessage(url, {}, {}, new AbortController().signal).finally(() => clearInterval(collecting));

  expect(posts).toBe(2);
}, 30_000);

test("the worker sends a message about runs that fail or cannot begin, once", async () => {
  const { url, messages } = await hook(200);
  const { process, output } = startWorker({ ...WRONG_KEY, SIMCAT_NOTIFY_URL: url });
  await vi.waitFor(() => expect(output().match(/"status":"unauthorized"/g)?.length).toBeGreaterThan(2), 30_000);
  process.kill("SIGTERM");
  expect(messages()).toMatchObject([{ good: false, status: "unauthorized" }]);
});

test("the worker's message about a wrong configuration says so, and is sent in spite of SIGTERM (faults 228, 349)", async () => {
  const { url, messages } = await hook(500, 200);
  const file = join(temporaryDirectory(), "key");
  writeFileSync(file, API_KEY);
  const settings = { SIMCAT_API_KEY: "", SIMCAT_API_KEY_FILE: file, SIMCAT_NOTIFY_URL: url };
  const { process, output, ended } = startWorker(settings);
  await vi.waitFor(() => expect(output()).toContain('"code":"run_finished"'), 30_000);
  rmSync(file);
  await vi.waitFor(() => expect(messages()).toMatchObject([{ run_id: null, status: "configuration" }]), 30_000);
  process.kill("SIGTERM");
  expect((await ended).stderr).not.toMatch(/notification_failed|still open/);
  expect(messages()).toHaveLength(2);
});

test("the worker does not repeat the message of another process (fault 295)", async () => {
  const { url, messages } = await hook(200);
  const { output } = startWorker({ SIMCAT_NOTIFY_URL: url, SIMCAT_SCHEDULE: "*/2 * * * * *" });
  const runsWith = (status: string) => output().split(`"status":"${status}"`).length - 1;
  const untilRuns = (status: string, count: number) =>
    vi.waitFor(() => expect(runsWith(status)).toBeGreaterThanOrEqual(count), 30_000);
  await untilRuns("ok", 1);

  expect(await sync(url, false)).toMatchObject({ code: 77 });
  made.service.always({ operation: "listing" }, { kind: "status", status: 403 });
  await untilRuns("unauthorized", 2);

  expect(messages().map(({ run_id }) => run_id)).toEqual([expect.any(Number)]);
});
