import { expect, test } from "vitest";
import { isInSlice, type Slice } from "../../src/slice.ts";
import { headers } from "../faults/answers.ts";
import { told } from "../postgres/told.ts";
import { callCli } from "../support/call-cli.ts";
import { type Fixture, fixture, serve, syncedFixture } from "../support/fixture.ts";
import { library, NEWER, numbered } from "../support/organization.ts";
import { rowVersions } from "../support/row-versions.ts";
import { gateAfter, gateBeforeMetadata } from "./gate.ts";
import { serviceRows, storedRows } from "./service-rows.ts";

/** The settings are judged before the service and the database are asked. */
const NOWHERE = {
  SIMCAT_BASE_URL: "http://127.0.0.1:1",
  SIMCAT_API_KEY: "a-key-of-nobody",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
};
const RATE = { SIMCAT_MAX_RPS: "1000" };

const libraries = (count: number) =>
  Array.from({ length: count }, (_, at) => library(`owner ${at % 7}`, `Lib ${at}`, { scenarios: [1, 2] }));

const keysIn = (slice: Slice, count: number) =>
  libraries(count).filter(({ owner, name }) => isInSlice(slice, { owner, name }));

/** Runs all slices side by side; returns their exit codes. */
async function runSlices({ call }: Fixture, command: string, count: number): Promise<(number | null)[]> {
  const runs = Array.from({ length: count }, (_, at) => call([command, "--slice", `${at + 1}/${count}`], RATE));
  return (await Promise.all(runs)).map(({ code }) => code);
}

const EVERY_SLICE_WAS_READ = "next: run simcat sync: every slice was read, and an ordinary run completes the copy";

test("four slices store what one backfill does, and the next sync completes the copy with one request (fault 179)", async () => {
  const made = await fixture(libraries(80));
  const { call, query, lines, service, asked } = made;
  const complete = `SELECT complete_as_of > started_at - interval '1 second' FROM simcat_report.data_complete_as_of, simcat.sync_runs
    ORDER BY id DESC LIMIT 1`;

  expect(await runSlices(made, "backfill", 4)).toEqual([0, 0, 0, 0]);

  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect((await call(["verify"])).code).toBe(0);
  expect(await lines(complete)).toEqual(["NULL"]);
  expect(await lines("SELECT day FROM simcat.snapshot_days")).toEqual([]);
  expect(await lines("SELECT DISTINCT libraries_listed FROM simcat.sync_runs")).toEqual(["80"]);
  const { stdout } = await call(["status"]);
  expect(stdout).toMatch(/backfill \(slice [1-4]\/4\)/);
  expect(stdout).toContain(EVERY_SLICE_WAS_READ);

  asked();
  expect((await call(["sync"])).stdout).toContain("80 listed, 0 read, 80 skipped");
  expect(asked()).toEqual(["GET /libs"]);
  expect(await lines(complete)).toEqual(["true"]);
  expect(await lines("SELECT count(*) FROM simcat.library_days")).toEqual(["80"]);
  expect(await lines("SELECT count(*) FROM simcat.snapshot_days")).toEqual(["1"]);
});

test("a slice of a foreign or empty listing is held, stores nothing and does not count as read (fault 191)", async () => {
  const { call, query, service } = await syncedFixture(libraries(30));
  const other = await serve(numbered(60));
  const unchanged = async () => rowVersions(query, ["leases", "sync_runs"]);
  const before = await unchanged();
  const slices = Array.from({ length: 64 }, (_, at) => ({ index: at + 1, count: 64 }));
  const withoutLibraries = slices.find((slice) => keysIn(slice, 30).length === 0)?.index ?? 0;
  const expectHeld = async (slice: string, baseUrl: string, says: string) => {
    const { code, stdout } = await call(["backfill", "--slice", slice], { ...RATE, SIMCAT_BASE_URL: baseUrl });
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringContaining(says) });
  };

  for (const slice of ["2/4", `${withoutLibraries}/64`]) {
    await expectHeld(slice, other.url, "the listing holds 60 libraries and none of the 30 live ones");
  }
  for (const { owner, name } of libraries(30)) service.remove(owner, name);
  for (const slice of ["2/2", "1/2"]) {
    await expectHeld(slice, service.url, "the listing is empty, but 30 libraries are live; nothing was marked");
  }
  service.put(library("ann", ""), library("bob", ""));
  for (const slice of ["2/2", "1/2"])
    await expectHeld(slice, service.url, "all 2 entries of the listing were rejected, but 30 libraries are live");
  expect(await unchanged()).toEqual(before);
  expect((await call(["status"])).stdout).not.toContain("every slice was read");
});

test("beside a live slice, its siblings run, and everything else ends with 75 (fault 180)", async () => {
  const gate = gateAfter(3);
  const { start, call, query } = await fixture(libraries(60), { onRequest: gate.onRequest });
  const first = start(["backfill", "--slice", "1/2"], { ...RATE, SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  const second = start(["backfill", "--slice", "2/2"], RATE);
  await expect.poll(() => query("SELECT id FROM simcat.sync_runs")).toHaveLength(2);

  const others = [["sync"], ["sync", "--slice", "1/3"], ["sync", "--slice", "1/2"], ["prune", "--older-than", "90d"]];
  const ended = await Promise.all(others.map((args) => call(args, RATE)));

  const said = expect.stringMatching(/^another run is at work \(.+, slice [12]\/2\)/);
  expect(ended.map(told)).toEqual(others.map(() => ({ exit: 75, code: "busy", said })));
  const { stdout } = await call(["status"]);
  const progress = (pid: number | undefined, index: number) =>
    new RegExp(`in progress, by .+:${pid}; \\d+ of ${keysIn({ index, count: 2 }, 60).length} known libraries read`);
  expect(stdout).toMatch(progress(first.process.pid, 1));
  expect(stdout).toMatch(progress(second.process.pid, 2));
  expect(stdout).toContain("next: wait for the runs in progress");
  gate.open();
  expect([(await first.ended).code, (await second.ended).code]).toEqual([0, 0]);
  expect((await call(["sync"])).code).toBe(0);
});

test("the successors of a stopped slice wait for its lease, abandon its run alone and fence it out (fault 180)", async () => {
  const gate = gateAfter(6);
  const made = await fixture(libraries(60), { onRequest: gate.onRequest });
  const { start, call, query, lines, service } = made;
  const late = start(["backfill", "--slice", "1/2"], { ...RATE, SIMCAT_CONCURRENCY: "3" });
  await gate.reached;
  await expect.poll(() => query("SELECT 1 FROM simcat.libraries")).not.toEqual([]);
  late.process.kill("SIGSTOP");
  gate.open();
  // A sibling is no successor: the dead lease is not its own.
  expect((await call(["backfill", "--slice", "2/2"], RATE)).code).toBe(0);
  const statuses = "SELECT scope->>'slice', status FROM simcat.sync_runs ORDER BY id LIMIT 2";
  expect(await lines(statuses)).toEqual(["1/2 running", "2/2 ok"]);

  const began = performance.now();
  expect(await runSlices(made, "backfill", 3)).toEqual([0, 0, 0]);

  expect(performance.now() - began).toBeLessThan(25_000);
  expect(await lines(statuses)).toEqual(["1/2 abandoned", "2/2 ok"]);
  const fenced =
    "SELECT name, token, 'fenced:', holder = '' FROM simcat.leases WHERE name NOT LIKE '%/3' ORDER BY name";
  expect(await lines(fenced)).toEqual(["sync 1/2 2 fenced: true", "sync 2/2 2 fenced: true"]);
  const before = await rowVersions(query, ["leases"]);
  late.process.kill("SIGCONT");

  expect((await late.ended).code).toBe(75);
  expect(await rowVersions(query, ["leases"])).toEqual(before);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  expect((await call(["verify"])).code).toBe(0);
});

test("a slice keeps and ends the rejects of its own list entries (fault 365)", async () => {
  const { call, lines, service } = await fixture(libraries(8));
  const [own] = keysIn({ index: 1, count: 2 }, 8);
  const entry = `{"libraryName":"${own?.name}","uploadUser":"${own?.owner}","lastModified":"${NEWER}"}`;
  const run = async (slice: string) => (await call(["sync", "--slice", slice], RATE)).code;
  const open = "SELECT count(*) FROM simcat.rejects WHERE resolved_at IS NULL";

  service.put(library("contradicts", "it", { source: { entry } }));
  expect([await run("1/2"), await run("2/2"), await lines(open)]).toEqual([2, 0, ["2"]]);
  service.once({ operation: "listing" }, headers({ age: "600" }));
  expect(await run("2/2")).toBe(0);
  service.remove("contradicts", "it");
  expect([await run("2/2"), await lines(open)]).toEqual([0, ["2"]]);
  expect([await run("1/2"), await lines(open)]).toEqual([0, ["0"]]);
});

const EXPECTED = "such as 3/8, or auto/8 in an Indexed Job of Kubernetes";
const NO_SLICE = "this command takes none; unset it";
const LEAVE_OUT = "leave out --library and --owner, or the slice";
const POD = { ...RATE, SIMCAT_SLICE: "auto/4" };
const ONE_OF_FOUR = { ...RATE, SIMCAT_SLICE: "1/4" };

/** A command line that ends with a code, its settings, and the words of its message. */
test.each<[number, string, Readonly<Record<string, string>>, string]>([
  [78, "backfill --slice 0/4", RATE, EXPECTED],
  [78, "backfill --slice 5/4", RATE, EXPECTED],
  [78, "backfill --slice x", RATE, EXPECTED],
  [78, "backfill --slice 1/65", RATE, EXPECTED],
  [78, "sync --dry-run", { ...RATE, SIMCAT_SLICE: "3/2" }, 'SIMCAT_SLICE is \\"3/2\\"'],
  [78, "backfill", POD, "JOB_COMPLETION_INDEX is"],
  [78, "backfill", { ...POD, JOB_COMPLETION_INDEX: "4" }, "expected 0 to 3, as an Indexed Job of 4"],
  [78, "backfill", { ...POD, JOB_COMPLETION_INDEX: "1.5" }, "JOB_COMPLETION_INDEX is"],
  [78, "backfill", { ...POD, JOB_COMPLETION_INDEX: " " }, "JOB_COMPLETION_INDEX is"],
  [78, "backfill --slice 1/4", {}, "SIMCAT_MAX_RPS is not set; expected the requests per second that the service"],
  [78, "backfill --slice 1/4", { SIMCAT_MAX_RPS: "3" }, "SIMCAT_MAX_RPS is 3; expected"],
  [78, "verify", ONE_OF_FOUR, NO_SLICE],
  [78, "start", ONE_OF_FOUR, NO_SLICE],
  [78, "prune --older-than 90d", ONE_OF_FOUR, NO_SLICE],
  [64, "sync --owner ann --slice 1/4", RATE, LEAVE_OUT],
  [64, "sync --library ann/Lib --slice 1/4", RATE, LEAVE_OUT],
])("ends with %i and says what to set (fault 390): %s with %j", async (code, command, environment, says) => {
  const ended = await callCli(command.split(" "), { ...NOWHERE, ...environment });
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(says);
});

test("a pod of an Indexed Job takes its part from its index, and its share of the request rate", async () => {
  const { call, lines, service } = await fixture(libraries(40));
  const began = performance.now();
  const ended = await call(["backfill"], { SIMCAT_SLICE: "auto/4", JOB_COMPLETION_INDEX: "2", SIMCAT_MAX_RPS: "40" });

  expect(ended.code).toBe(0);
  const own = keysIn({ index: 3, count: 4 }, 40).map(({ owner, name }) => `${owner} ${name}`);
  const stored = await lines("SELECT owner, library_name FROM simcat.libraries");
  expect(stored.sort()).toEqual(own.sort());
  // Ten requests a second.
  expect(performance.now() - began).toBeGreaterThan((service.requests.length - 2) * 100);
  expect(service.requests).toHaveLength(1 + 2 * own.length);
});

test("two long lists staged by two slices with equal tokens are both stored (fault 180)", async () => {
  const long = Array.from({ length: 5_000 }, (_, at) => at + 1);
  const [one] = keysIn({ index: 1, count: 2 }, 40);
  const [two] = keysIn({ index: 2, count: 2 }, 40);
  if (one === undefined || two === undefined) throw new Error("a slice has no library");
  const gate = gateBeforeMetadata();
  const { start, query, lines, service } = await fixture(
    [one, two].map(({ owner, name }) => library(owner, name, { scenarios: long })),
    { onRequest: gate.onRequest },
  );
  const runs = ["1/2", "2/2"].map((slice) => start(["backfill", "--slice", slice], RATE));
  const staged = "SELECT count(DISTINCT stage), 'lists', count(*) > 8000 FROM simcat.scenario_staging";
  await expect.poll(() => lines(staged)).toEqual(["2 lists true"]);
  expect(await lines("SELECT DISTINCT token FROM simcat.leases")).toEqual(["1"]);
  gate.open();

  expect((await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0]);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});
