import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startPostgresProxy } from "../postgres/proxy.ts";
import { createRole, GRANTS } from "../postgres/roles.ts";
import type { Running } from "../support/cli.ts";
import { type Fixture, fixture } from "../support/fixture.ts";
import type { FaultAction, FaultMatch } from "../support/mock/faults.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { CANARY_KEY, CANARY_PASSWORD, dump, formsOf, secretsIn } from "./canary.ts";

interface World extends Fixture {
  readonly canaries: Readonly<Record<string, string>>;
  /** As the role whose password is the canary. */
  readonly roleUrl: string;
  readonly role: string;
}

/** A service that requires the canary key, and a database that requires the canary password. */
async function world(): Promise<World> {
  const libraries = [library("alice", "Fire", { scenarios: [1, 2] }), library("bob", "Water", { scenarios: [1] })];
  const made = await fixture(libraries, { apiKey: CANARY_KEY });
  const { name, url } = await createRole(made.database, {
    password: CANARY_PASSWORD,
    grants: [...GRANTS, "USAGE ON SCHEMA simcat_report", "SELECT ON ALL TABLES IN SCHEMA simcat_report"],
  });
  return {
    ...made,
    role: name,
    roleUrl: url,
    canaries: { SIMCAT_API_KEY: CANARY_KEY, DATABASE_URL: url, SIMCAT_LOG_LEVEL: "trace" },
  };
}

/** Throws before the worker has logged its address. */
const addressOf = (worker: Running): string =>
  JSON.parse(/^.*"worker_started".*$/m.exec(worker.output())?.[0] ?? "").url;

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
const SPOILT: readonly (readonly [FaultMatch, FaultAction])[] = [
  [{ operation: "listing" }, { kind: "status", status: 401, body: `{"message":"bad key ${CANARY_KEY}"}` }],
  [{ operation: "listing" }, { kind: "status", status: 503, body: JSON.stringify({ key: CANARY_KEY }) }],
  [{ operation: "listing" }, { kind: "status", status: 429, headers: { "retry-after": "7200", "x-key": CANARY_KEY } }],
  [
    { operation: "listing" },
    {
      kind: "status",
      status: 302,
      headers: { location: `https://elsewhere.invalid/${encodeURIComponent(CANARY_KEY)}?k=${CANARY_KEY}` },
    },
  ],
  [{ operation: "listing" }, { kind: "wrongBody", text: JSON.stringify({ echo: CANARY_KEY, [CANARY_KEY]: 1 }) }],
  [{ operation: "listing" }, { kind: "wrongBody", text: `not JSON ${CANARY_KEY}` }],
  [{ operation: "listing" }, { kind: "headers", set: { "content-encoding": "k3y" } }],
  [{ operation: "scenarios" }, { kind: "status", status: 403, body: CANARY_KEY }],
  [
    { operation: "scenarios" },
    { kind: "wrongBody", text: JSON.stringify([{ scenarioId: "no id", description: CANARY_KEY }]) },
  ],
  [{ operation: "metadata" }, { kind: "wrongBody", text: JSON.stringify({ libraryName: 7, description: CANARY_KEY }) }],
];

test("no answer of the service makes simcat print or store a secret, even if it has the key (fault 104)", async () => {
  const { simcat, call, service, canaries, query } = await world();
  const said: Said[] = [];
  for (const [match, action] of SPOILT) {
    service.always(match, action);
    const format = said.length % 2 === 0 ? "json" : "pretty";
    const { code, stdout, stderr } = await (said.length < 2 ? simcat : call)(["sync"], {
      ...canaries,
      SIMCAT_LOG_FORMAT: format,
      SIMCAT_REQUEST_TIMEOUT: "300ms",
      SIMCAT_MAX_RETRIES: "0",
    });
    expect(code, `${match.operation} ${action.kind}`).not.toBe(0);
    said.push([`${match.operation} ${action.kind}: what was printed`, stdout + stderr]);
  }
  said.push(["the database", await dump(query)]);

  expect(await query("SELECT count(*)::int AS rejects FROM simcat.rejects WHERE payload LIKE '%***%'")).not.toEqual([
    { rejects: 0 },
  ]);
  expectNone(said);
});

test("no failure of the database, the address or the configuration reveals a secret (fault 104)", async () => {
  const { call, start, canaries, query, roleUrl, role, database, service } = await world();
  const said: Said[] = [];
  const run = async (what: string, wanted: number, more: Readonly<Record<string, string>>, args = ["sync"]) => {
    const { code, stdout, stderr } = await call(args, { ...canaries, ...more });
    expect({ what, code, said: code === wanted ? "" : stdout + stderr }).toEqual({ what, code: wanted, said: "" });
    said.push([what, stdout + stderr]);
  };
  const changed = (change: (url: URL) => void) => {
    const url = new URL(roleUrl);
    change(url);
    return url.href;
  };
  const raw = `postgres://${role}:${CANARY_PASSWORD}@127.0.0.1:5432/simcat`;
  const encoded = encodeURIComponent(CANARY_PASSWORD);
  const proxy = await startPostgresProxy(database.url);
  let cuts = 0;
  proxy.judge = (statement) => {
    if (!statement.includes("INSERT INTO simcat.scenarios") || cuts > 0) return "pass";
    cuts += 1;
    return "cut before";
  };

  await run("a port where nobody listens", 69, { DATABASE_URL: changed((url) => (url.port = "1")) });
  await run("another role's name", 69, { DATABASE_URL: changed((url) => (url.username = "simcat_nobody")) });
  await run("no such database", 69, { DATABASE_URL: changed((url) => (url.pathname = "/simcat_none")) });
  await run("a server without TLS", 69, { DATABASE_URL: `${roleUrl}?sslmode=verify-full` });
  await run("a password in the query", 69, {
    DATABASE_URL: `postgres://${role}@127.0.0.1:1/simcat?password=${encoded}`,
  });
  await run("a password that is not encoded", 78, { DATABASE_URL: raw });
  await run("no Postgres URL", 78, { DATABASE_URL: raw.replace("postgres", "mysql") });
  await run("secrets in the wrong settings", 78, {
    SIMCAT_BASE_URL: CANARY_KEY,
    SIMCAT_CONCURRENCY: CANARY_KEY,
    SIMCAT_LOG_LEVEL: CANARY_PASSWORD,
    SIMCAT_MAX_REMOVED: encoded,
  });
  await run("a key with a line break", 78, { SIMCAT_API_KEY: `${CANARY_KEY}\n` });
  await run("secrets in the selectors", 64, {}, ["sync", "--library", CANARY_KEY]);
  await run("a session cut in a transaction", 0, { DATABASE_URL: proxy.url(roleUrl) });
  service.put(library("carol", "New", { scenarios: [1] }));
  await query(`REVOKE INSERT ON simcat.scenarios FROM ${role}`);
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
  const { simcat, call, start, query, roleUrl } = await world();
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "key"), `${CANARY_KEY}\n`);
  writeFileSync(join(directory, "url"), `${roleUrl}\n`);
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
  const url = await vi.waitFor(() => addressOf(worker), { timeout: 30_000 });
  await vi.waitFor(() => expect(worker.output()).toContain('"run_finished"'), { timeout: 30_000 });
  for (const path of ["/metrics", "/", "/readyz", "/healthz", "/nowhere"]) {
    said.push([path, await (await fetch(url + path)).text()]);
  }
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
    const made = await fixture([library("alice", "Fire", { scenarios: [1] })]);
    const { url } = await createRole(made.database, {
      password,
      grants: [...GRANTS, "USAGE ON SCHEMA simcat_report", "SELECT ON ALL TABLES IN SCHEMA simcat_report"],
    });
    const { simcat, start } = made;
    const more = { DATABASE_URL: url, SIMCAT_LOG_FORMAT: "json", SIMCAT_LOG_LEVEL: "trace" };
    for (const args of [
      ["sync", "--json"],
      ["status", "--json"],
    ]) {
      const { code, stdout, stderr } = await simcat(args, more);
      expect({ args, code, isData: JSON.parse(stdout) !== null }).toEqual({ args, code: 0, isData: true });
      for (const line of stderr.trim().split("\n").filter(Boolean)) JSON.parse(line);
      expect(stdout + stderr).not.toContain("***");
    }
    const checked = await simcat(["check", "--json"], more);
    expect(JSON.parse(checked.stdout).map(({ result }: { result: string }) => result)).not.toContain("fail");
    expect(secretIn(checked.stdout, url)).toBe(false);

    const worker = start(["start"], { ...more, SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: "0 0 1 1 *" });
    await vi.waitFor(() => expect(worker.output()).toContain('"code":"next_run"'), { timeout: 30_000 });
    const address = addressOf(worker);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    const lines = metrics.split("\n").filter(Boolean);
    expect(lines.filter((line) => !/^(# (HELP|TYPE) )?simcat_\w+(\{[^}]*\})? /.test(line))).toEqual([]);
    expect(metrics).not.toContain("***");
    expect(Object.keys((await (await fetch(`${address}/readyz`)).json()) as object)).toContain("ready");
    expect(await (await fetch(`${address}/`)).text()).toContain("<h1>simcat: organization at ");
    worker.process.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
  },
);

/** Whether a text has the password of a database URL in its place. */
function secretIn(text: string, url: string): boolean {
  return text.includes(`:${new URL(url).password}@`);
}

test("a password that the database repeats is masked in logs, rows, JSON and pages (fault 104)", async () => {
  const { simcat, call, start, canaries, query, service } = await world();
  const said: Said[] = [];
  const echo = (table: string) =>
    query(
      `CREATE OR REPLACE FUNCTION public.echo() RETURNS trigger LANGUAGE plpgsql AS
       $f$ BEGIN RAISE EXCEPTION USING ERRCODE = '53200', MESSAGE = ${quote(`refused: ${CANARY_PASSWORD} and ${CANARY_KEY}`)}; END $f$;
     DROP TRIGGER IF EXISTS echo ON simcat.scenarios; DROP TRIGGER IF EXISTS echo ON simcat.sync_runs;
     CREATE TRIGGER echo BEFORE INSERT ON simcat.${table} EXECUTE FUNCTION public.echo()`,
    );

  const expectMasked = async (...lines: readonly string[]) => {
    for (const line of lines) {
      const { stdout, stderr } = await call(line.split(" "), canaries);
      expect(stdout + stderr, line).toContain("refused: ***");
      said.push([line, stdout + stderr]);
    }
  };
  await echo("scenarios");
  const { stdout, stderr } = await simcat(["sync"], canaries);
  expect(stdout + stderr).toContain("refused: ***");
  said.push(["sync", stdout + stderr]);
  await expectMasked("sync --json", "status --json", "status");
  // A trigger per row fails the library, not the run.
  await query(
    `CREATE OR REPLACE FUNCTION public.echo() RETURNS trigger LANGUAGE plpgsql AS
       $f$ BEGIN RAISE EXCEPTION USING ERRCODE = '22023', MESSAGE = ${quote(`refused: ${CANARY_PASSWORD}`)}; END $f$;
     DROP TRIGGER echo ON simcat.scenarios;
     CREATE TRIGGER echo BEFORE INSERT ON simcat.scenarios FOR EACH ROW EXECUTE FUNCTION public.echo()`,
  );
  await expectMasked("sync --json", "status --json", "explain alice/Fire --json");
  expect(await query("SELECT 1 FROM simcat.library_sync WHERE last_error LIKE '%refused: ***%'")).not.toEqual([]);

  await query("DROP TRIGGER echo ON simcat.scenarios");
  await echo("sync_runs");
  const worker = start(["start"], { ...canaries, SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: "*/1 * * * * *" });
  await vi.waitFor(() => expect(worker.output()).toContain("run could not start"), { timeout: 30_000 });
  const address = addressOf(worker);
  for (const path of ["/readyz", "/"]) {
    const text = await (await fetch(address + path)).text();
    expect(text, path).toContain("refused: ***");
    said.push([path, text]);
  }
  worker.process.kill("SIGTERM");
  await worker.ended;
  said.push(["start", worker.output()]);
  await query("DROP TRIGGER echo ON simcat.sync_runs; DROP FUNCTION public.echo()");
  said.push(["the database", await dump(query)]);
  expect(service.violations).toEqual([]);

  expectNone(said);
});

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;
