import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { encoded, redirect, status, text } from "../faults/answers.ts";
import { logLines } from "../faults/run-results.ts";
import { startPostgresProxy } from "../postgres/proxy.ts";
import { createRole, GRANTS } from "../postgres/roles.ts";
import type { Running } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTrigger } from "../support/trigger.ts";
import { startWorker } from "../worker/worker-under-test.ts";
import { CANARY_KEY, CANARY_PASSWORD, dump, formsOf, secretsIn } from "./canary.ts";

/** A service that requires the canary key, and a database that requires this password. */
async function world(password = CANARY_PASSWORD) {
  const libraries = [library("alice", "Fire", { scenarios: [1, 2] }), library("bob", "Water", { scenarios: [1] })];
  const made = await fixture(libraries, { apiKey: CANARY_KEY });
  const reading = ["USAGE ON SCHEMA simcat_report", "SELECT ON ALL TABLES IN SCHEMA simcat_report"];
  const role = await createRole(made.database, { password, grants: [...GRANTS, ...reading] });
  const canaries = { SIMCAT_API_KEY: CANARY_KEY, DATABASE_URL: role.url, SIMCAT_LOG_LEVEL: "trace" };
  return { ...made, role, canaries };
}

/** Starts the worker, waits until it has logged a text, and gets these pages by their paths; it runs on. */
async function getPages(worker: Running, logged: string, paths: readonly string[]): Promise<Said[]> {
  await vi.waitFor(() => expect(worker.output()).toContain(logged), { timeout: 30_000 });
  const { url } = JSON.parse(/^.*"worker_started".*$/m.exec(worker.output())?.[0] ?? "");
  const pages: Said[] = [];
  for (const path of paths) pages.push([path, await (await fetch(url + path)).text()]);
  return pages;
}

type Said = readonly [what: string, text: string];
const expectNone = (said: readonly Said[]) =>
  expect(
    said.map(([what, text]) => ({ what, secrets: secretsIn(text) })).filter(({ secrets }) => secrets.length > 0),
  ).toEqual([]);

test("the search finds a secret in each form: in a header, in JSON, in a URL, in SQL (fault 104)", () => {
  expect(secretsIn(`Authorization: Basic ${Buffer.from(`simcat:${CANARY_PASSWORD}`).toString("base64")}`)).not.toEqual(
    [],
  );
  for (const [how, form] of formsOf(CANARY_KEY)) expect(secretsIn(`before ${form} after`), how).not.toEqual([]);
  expect(secretsIn("nothing of the kind")).toEqual([]);
});

/** Answers that echo the key, and answers that are invalid in each way. */
const SPOILT: readonly (readonly ["listing" | "metadata" | "scenarios", FaultAction])[] = [
  ["listing", status(401, { body: `{"message":"bad key ${CANARY_KEY}"}` })],
  ["listing", status(503, { body: JSON.stringify({ key: CANARY_KEY }) })],
  ["listing", status(429, { headers: { "retry-after": "7200", "x-key": CANARY_KEY } })],
  ["listing", redirect(302, `https://elsewhere.invalid/${encodeURIComponent(CANARY_KEY)}?k=${CANARY_KEY}`)],
  ["listing", text(JSON.stringify({ echo: CANARY_KEY, [CANARY_KEY]: 1 }))],
  ["listing", text(`not JSON ${CANARY_KEY}`)],
  ["listing", encoded("k3y")],
  ["scenarios", status(403, { body: CANARY_KEY })],
  ["scenarios", text(JSON.stringify([{ scenarioId: "no id", description: CANARY_KEY }]))],
  ["metadata", text(JSON.stringify({ libraryName: 7, description: CANARY_KEY }))],
];

test("no answer of the service makes simcat print or store a secret, even if it has the key (fault 104)", async () => {
  const { simcat, call, service, canaries, query, lines } = await world();
  const said: Said[] = [];
  for (const [operation, action] of SPOILT) {
    const what = `${operation} ${action.kind}`;
    service.always({ operation }, action);
    const format = said.length % 2 === 0 ? "json" : "pretty";
    const { code, stdout, stderr } = await (said.length < 2 ? simcat : call)(["sync"], {
      ...canaries,
      SIMCAT_LOG_FORMAT: format,
      SIMCAT_REQUEST_TIMEOUT: "300ms",
      SIMCAT_MAX_RETRIES: "0",
    });
    expect(code, what).not.toBe(0);
    said.push([what, stdout + stderr]);
  }
  said.push(["the database", await dump(query)]);

  expect(await lines("SELECT id FROM simcat.rejects WHERE payload LIKE '%***%'")).not.toEqual([]);
  expectNone(said);
});

test("no failure of the database, the address or the configuration reveals a secret (faults 104, 105)", async () => {
  const { call, start, canaries, query, role, database, service } = await world();
  const said: Said[] = [];
  const run = async (what: string, wanted: number, more: Readonly<Record<string, string>>, args = ["sync"]) => {
    const { code, stdout, stderr } = await call(args, { ...canaries, ...more });
    expect({ what, code, said: code === wanted ? "" : stdout + stderr }).toEqual({ what, code: wanted, said: "" });
    said.push([what, stdout + stderr]);
  };
  const changed = (change: (url: URL) => void) => {
    const url = new URL(role.url);
    change(url);
    return url.href;
  };
  const closed = changed((url) => (url.port = "1"));
  const raw = `postgres://${role.name}:${CANARY_PASSWORD}@127.0.0.1:5432/simcat`;
  const password = encodeURIComponent(CANARY_PASSWORD);
  const nowhere = { SIMCAT_BASE_URL: "http://127.0.0.1:1/" };
  const misplaced = {
    ...{ SIMCAT_BASE_URL: CANARY_KEY, SIMCAT_CONCURRENCY: CANARY_KEY, SIMCAT_OWNER: CANARY_KEY },
    ...{ SIMCAT_LOG_LEVEL: CANARY_PASSWORD, SIMCAT_MAX_REMOVED: password, SIMCAT_SCHEDULE: role.url },
    SIMCAT_DEFAULT_OWNER: CANARY_PASSWORD,
  };
  const proxy = await startPostgresProxy(database.url);
  let cuts = 0;
  proxy.judge = (statement) => {
    if (!statement.includes("INSERT INTO simcat.scenarios") || cuts > 0) return "pass";
    cuts += 1;
    return "cut before";
  };

  // Some of them wait for ten seconds.
  await Promise.all([
    run("a port where nobody listens", 69, { DATABASE_URL: closed }),
    run("another role's name", 69, { DATABASE_URL: changed((url) => (url.username = "simcat_nobody")) }),
    run("no such database", 69, { DATABASE_URL: changed((url) => (url.pathname = "/simcat_none")) }),
    run("a server without TLS", 69, { DATABASE_URL: `${role.url}?sslmode=verify-full` }),
    run("a password in the query", 69, {
      DATABASE_URL: `postgres://${role.name}@127.0.0.1:1/simcat?password=${password}`,
    }),
    run("a password that is not encoded", 78, { DATABASE_URL: raw }),
    run("no Postgres URL", 78, { DATABASE_URL: raw.replace("postgres", "mysql") }),
    run("secrets in the wrong settings", 78, misplaced),
    run("a key with a line break", 78, { SIMCAT_API_KEY: `${CANARY_KEY}\n` }),
    run("a password in the base URL", 78, { SIMCAT_BASE_URL: `https://user:${password}@127.0.0.1/` }),
    run("secrets in the selectors", 64, {}, ["sync", "--library", CANARY_KEY]),
    run("a check of closed ports", 69, { ...nowhere, DATABASE_URL: closed }, ["check", "--json"]),
    run("a check of a closed direct URL", 69, { DATABASE_DIRECT_URL: `${closed}?x=1` }, ["check", "--json"]),
    run("a check of wrong settings", 78, misplaced, ["check", "--json"]),
  ]);
  await run("a session cut in a transaction", 0, { DATABASE_URL: proxy.url(role.url) });
  service.put(library("carol", "New", { scenarios: [1] }));
  await query(`REVOKE INSERT ON simcat.scenarios FROM ${role.name}`);
  await run("a missing privilege", 69, {});
  service.always({ operation: "listing" }, { kind: "hang" });
  service.clearRequests();
  const thrower = `process.on("SIGUSR2", () => { throw new Error("at " + process.env.DATABASE_URL, { cause: new Error(process.env.SIMCAT_API_KEY) }); })`;
  const buggy = start(["sync"], {
    ...canaries,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(thrower)}`,
  });
  await vi.waitFor(() => expect(service.requests).toHaveLength(1), { timeout: 20_000 });
  buggy.process.kill("SIGUSR2");
  expect((await buggy.ended).code).toBe(1);
  said.push(["an error that nobody caught, with both in it and in its cause", buggy.output()]);
  said.push(["the database", await dump(query)]);

  expect(cuts).toBe(1);
  expectNone(said);
});

test("with secrets read from files, no normal output of a command, worker or page has one (fault 104)", async () => {
  const { simcat, call, start, query, role } = await world();
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "key"), `${CANARY_KEY}\n`);
  writeFileSync(join(directory, "url"), `${role.url}\n`);
  const canaries = {
    ...{ SIMCAT_API_KEY: "", SIMCAT_API_KEY_FILE: join(directory, "key") },
    ...{ DATABASE_URL: "", DATABASE_URL_FILE: join(directory, "url"), SIMCAT_LOG_LEVEL: "trace" },
  };
  const page = join(directory, "report.html");
  const said: Said[] = [];
  const commands = [
    ["sync"],
    ["sync", "--dry-run", "--json"],
    ["backfill", "--json"],
    ["status"],
    ["status", "--json"],
    ["explain", "alice/Fire", "--json"],
    ["verify", "--json"],
    ["prune", "--older-than", "1d", "--dry-run"],
    ["report", "--out", page],
    ["export", "--out", join(directory, "export"), "--json"],
    ["check"],
    ["check", "--json"],
  ];
  for (const args of commands) {
    const { stdout, stderr } = await (args.length === 1 ? simcat : call)(args, canaries);
    expect(stdout, args.join(" ")).not.toBe("");
    said.push([args.join(" "), stdout + stderr]);
  }
  said.push(["the report", readFileSync(page, "utf8")]);

  const worker = start(["start"], { ...canaries, SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: "*/1 * * * * *" });
  said.push(...(await getPages(worker, '"run_finished"', ["/metrics", "/", "/readyz", "/healthz", "/nowhere"])));
  worker.process.kill("SIGTERM");
  await worker.ended;
  said.push(["start", worker.output()], ["the database", await dump(query)]);

  expectNone(said);
});

/** Words that are frequent in simcat's own output: short ones, and ones that are masked in messages. */
const COMMON = ["true", "libraries"];

test.each(COMMON)(
  "with the database password %s, JSON, metrics and log lines keep their keys and values (fault 109)",
  async (password) => {
    const { call, canaries, environment } = await world(password);
    const more = { ...canaries, SIMCAT_LOG_FORMAT: "json" };
    for (const command of ["sync", "status"]) {
      const ended = await call([command, "--json"], more);
      expect(ended.code, command).toBe(0);
      expect(JSON.parse(ended.stdout)).not.toBeNull();
      expect(() => logLines(ended)).not.toThrow();
      expect(ended.stdout + ended.stderr).not.toContain("***");
    }
    const checked = await call(["check", "--json"], more);
    expect(JSON.parse(checked.stdout).map(({ result }: { result: string }) => result)).not.toContain("fail");
    expect(checked.stdout).not.toContain(`:${password}@`);

    const worker = startWorker({ ...environment, ...more });
    await worker.untilLogged("next_run");
    const metrics = await (await worker.get("/metrics")).text();
    const families = metrics.split("\n").filter(Boolean);
    expect(families.filter((line) => !/^(# (HELP|TYPE) )?simcat_\w+(\{[^}]*\})? /.test(line))).toEqual([]);
    expect(metrics).not.toContain("***");
    expect((await worker.readyz()).status).toBe(200);
    expect(await (await worker.get("/")).text()).toContain("<h1>simcat: organization at ");
    expect(await worker.stop()).toBe(0);
  },
);

test("a password that the database repeats is masked in logs, rows, JSON and pages (fault 104)", async () => {
  const { call, start, canaries, query, service } = await world();
  const said: Said[] = [];
  const message = `'refused: ${`${CANARY_PASSWORD} and ${CANARY_KEY}`.replaceAll("'", "''")}'`;
  const echo = (table: string, each = "STATEMENT", state = "53200") =>
    query("DROP FUNCTION IF EXISTS public.act CASCADE").then(() =>
      createTrigger(
        query,
        `BEFORE INSERT ON simcat.${table} FOR EACH ${each}`,
        `RAISE EXCEPTION USING ERRCODE = '${state}', MESSAGE = ${message};`,
      ),
    );
  const expectMasked = async (...lines: readonly string[]) => {
    for (const line of lines) {
      const { stdout, stderr } = await call(line.split(" "), canaries);
      expect(stdout + stderr, line).toContain("refused: ***");
      said.push([line, stdout + stderr]);
    }
  };

  await echo("scenarios");
  await expectMasked("sync", "sync --json", "status --json", "status");
  // A trigger per row fails the library, not the run.
  await echo("scenarios", "ROW", "22023");
  await expectMasked("sync --json", "status --json", "explain alice/Fire --json");
  expect(await query("SELECT 1 FROM simcat.library_sync WHERE last_error LIKE '%refused: ***%'")).not.toEqual([]);

  await echo("sync_runs");
  const worker = start(["start"], { ...canaries, SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: "*/1 * * * * *" });
  const pages = await getPages(worker, "run could not start", ["/readyz", "/"]);
  for (const [path, page] of pages) expect(page, path).toContain("refused: ***");
  said.push(...pages);
  worker.process.kill("SIGTERM");
  await worker.ended;
  said.push(["start", worker.output()]);
  await query("DROP FUNCTION public.act CASCADE");
  said.push(["the database", await dump(query)]);
  expect(service.violations).toEqual([]);

  expectNone(said);
});
