import { expect, test } from "vitest";
import { holdLocks } from "../postgres/sessions.ts";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { type Fixture, fixture, syncedFixture } from "../support/fixture.ts";
import { changeAll, library, NEWER, scenario } from "../support/organization.ts";
import { createTrigger } from "../support/trigger.ts";
import { text } from "./answers.ts";
import { libraries } from "./removals.ts";
import { lastRun, libraryLogLines, logLines, owing } from "./run-results.ts";

const thirty = () => Array.from({ length: 30 }, (_, at) => library("alice", `lib ${at}`, { scenarios: [1, 2] }));

/** Changes each library, and replaces its second scenario with a third. */
const edit = ({ service }: Fixture, lastModified = NEWER) => {
  changeAll(service, { lastModified, description: "new", scenarios: [scenario(1), scenario(3)] });
};

/** Creates a trigger that raises an SQLSTATE for each row that meets a condition. */
const refuse = ({ query }: Fixture, table: string, state: string, condition = "true") =>
  query(`
    CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'not this: %', to_jsonb(NEW)->>'library_name' USING ERRCODE = TG_ARGV[0]; END $$;
    CREATE TRIGGER "refuse with ${state}" BEFORE INSERT OR UPDATE ON simcat.${table} FOR EACH ROW
      WHEN (${condition}) EXECUTE FUNCTION public.refuse('${state}')`);

/** The same for each row of a library. */
const poison = (made: Fixture, table: string, name = "lib 11", state = "P0001") =>
  refuse(made, table, state, `NEW.library_name = '${name}'`);

const heal = ({ query }: Fixture) => query("DROP FUNCTION public.refuse CASCADE");

const storedNames = ({ lines }: Fixture) => lines("SELECT library_name FROM simcat.libraries");

/** Without the cause, each run stores all that the service has. */
async function expectRecovery(made: Fixture, command = "sync"): Promise<void> {
  await heal(made);
  expect((await made.call([command])).code).toBe(0);
  expect(await storedRows(made.query)).toEqual(serviceRows(made.service.organization));
}

/** One code per class that rows can cause: a cancelled statement, a lock, a trigger, a broken page, a missing table, … */
const STATES = ["57014", "55P03", "P0001", "XX000", "XX001", "42P01", "42501", "0A000", "23514", "HV000", "F0000"];

test.each(["libraries", "scenarios"])(
  "an error of any class for rows of %s fails their library only, in every run (fault 89)",
  async (table) => {
    const made = await fixture(thirty());
    const states = Object.fromEntries(STATES.map((state, at) => [`lib ${2 * at}`, state]));
    for (const [name, state] of Object.entries(states)) await poison(made, table, name, state);
    const failed = Object.keys(states).sort();

    const first = await made.call(["sync"]);
    const owed = await owing(made);
    const second = await made.call(["sync"]);

    expect(first.code).toBe(2);
    expect(libraryLogLines(first)).toEqual(failed.map((name) => `alice/${name} rejected_by_database`));
    const reasons = logLines(first).map(({ error }) => /^storing the library failed: (.*?); /.exec(String(error))?.[1]);
    expect(reasons).toEqual(expect.arrayContaining(failed.map((name) => `not this: ${name} (${states[name]})`)));
    expect(owed).toEqual(failed.map((name) => `${name} failure 1`));
    expect((await storedNames(made)).filter((name) => failed.includes(name))).toEqual([]);
    expect(await storedNames(made)).toHaveLength(19);
    expect(second.code).toBe(2);
    expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_failed: 11 });
    expect(await owing(made)).toEqual(failed.map((name) => `${name} failure 2`));
    await expectRecovery(made);
  },
);

test("a refused library is tried log2(batch) times, and once in the next run (fault 89)", async () => {
  const made = await fixture(Array.from({ length: 256 }, (_, at) => library("alice", `lib ${at}`, { scenarios: [1] })));
  // A sequence also counts in transactions that are rolled back.
  await made.query("CREATE SEQUENCE public.attempts");
  const attempt = "BEFORE INSERT OR UPDATE ON simcat.libraries FOR EACH ROW WHEN (NEW.library_name = 'lib 100')";
  await createTrigger(made.query, attempt, "PERFORM nextval('public.attempts'); RETURN NEW;");
  const attempts = async () => Number(await made.lines("SELECT last_value FROM public.attempts"));
  await poison(made, "scenarios", "lib 100");

  expect((await made.call(["sync"])).code).toBe(2);

  const first = await attempts();
  // The batch, then one half of each size down to one: at most 256, 128, …, 1.
  expect(first).toBeLessThanOrEqual(9);
  edit(made);
  expect((await made.call(["sync"])).code).toBe(2);
  expect((await attempts()) - first).toBe(1);
  expect(await made.lines("SELECT count(*) FROM simcat.scenarios WHERE scenario_id = 3")).toEqual(["255"]);
});

test("unknown dates are stored as text, with one warning in repeated transactions (faults 56 and 320)", async () => {
  const made = await fixture(thirty().map((one) => ({ ...one, lastModified: "lately" })));
  await poison(made, "libraries");

  const ended = await made.call(["sync"]);

  const detail =
    "simcat does not know the format of every date; the text of such a date is stored, its …_at column is NULL";
  expect(logLines(ended).filter(({ code }) => code === "dates_unparsed")).toMatchObject([{ level: "warn", detail }]);
  const dates = "SELECT DISTINCT last_modified, last_modified_at FROM simcat.libraries";
  expect(await made.lines(dates)).toEqual(["lately NULL"]);
});

test("a locked row fails its library; the others are stored while it is held (fault 89)", async () => {
  const made = await syncedFixture(thirty());
  edit(made);
  const row = "SELECT FROM simcat.scenarios WHERE library_name = 'lib 11' AND scenario_id = 2 FOR UPDATE";
  const holder = await holdLocks(made.database, row);

  const ended = await made.call(["sync"]);
  await holder.query("ROLLBACK");

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(["alice/lib 11 rejected_by_database"]);
  expect(ended.stderr).toContain("(55P03)");
  expect(await lastRun(made.query)).toMatchObject({ libraries_read: 29, libraries_failed: 1 });
  expect(await owing(made)).toEqual(["lib 11 failure 1"]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await storedRows(made.query)).toEqual(serviceRows(made.service.organization));
});

test.each(["P0001", "57014"])(
  "%s for a staged row of a long list fails that library only (fault 89)",
  async (state) => {
    const long = Array.from({ length: 4_000 }, (_, at) => scenario(at + 1));
    const made = await fixture([...thirty(), library("bob", "long", { scenarios: long })]);
    await refuse(made, "scenario_staging", state, "NEW.scenario_id = 3500");

    const ended = await made.call(["sync"]);

    expect(ended.code).toBe(2);
    expect(libraryLogLines(ended)).toEqual(["bob/long rejected_by_database"]);
    expect((await storedNames(made)).length).toBe(30);
    await expectRecovery(made);
  },
);

test.each([
  "ALTER TABLE simcat.scenarios DROP CONSTRAINT scenarios_owner_library_name_scenario_id_pk",
  "DROP INDEX simcat.rejects_fingerprint_index",
  "ALTER TABLE simcat.library_sync DROP COLUMN content_hash CASCADE",
  "DROP SCHEMA simcat_report CASCADE; ALTER TABLE simcat.scenario_history ALTER COLUMN scenario_name TYPE bytea USING NULL",
])("damage that concerns every row is no library's failure: %s (fault 103)", async (damage) => {
  const made = await syncedFixture(["a", "b"].map((name) => library("alice", name, { scenarios: [1] })));
  await made.query(damage);
  const scenarios = [scenario(1, { scenarioName: "renamed" }), scenario(1.5)];
  for (const name of ["a", "b"]) made.service.change("alice", name, { lastModified: NEWER, scenarios });

  const { code, stderr } = await made.call(["sync"]);

  expect(code, stderr).toBe(damage.includes("DROP COLUMN") ? 78 : 69);
  expect(stderr).not.toContain("rejected_by_database");
});

test("a trigger that refuses every library ends the run with the database's message (fault 103)", async () => {
  const made = await fixture(thirty());
  await refuse(made, "scenarios", "P0001");

  const ended = await made.call(["sync"]);

  expect(ended.code).toBe(69);
  expect(await lastRun(made.query)).toMatchObject({ status: "database_failed", libraries_failed: 30 });
  const error = /^the database refused all 30 libraries that this run tried to store: .*not this: lib \d+ \(P0001\)/;
  expect(logLines(ended).at(-1)).toMatchObject({ code: "database_failed", error: expect.stringMatching(error) });
  await expectRecovery(made);
});

test("a library whose hold is refused fails; the other removals are held and stay held (fault 91)", async () => {
  const made = await syncedFixture(thirty());
  for (let at = 10; at < 22; at++) made.service.remove("alice", `lib ${at}`);
  await poison(made, "library_sync");

  for (const _ of ["held", "held before"]) {
    const ended = await made.call(["sync"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("recording that its removal is held failed: ");
    expect(libraryLogLines(ended)[0]).toBe("alice/lib 11 rejected_by_database");
    expect(await made.query("SELECT FROM simcat.library_sync WHERE removal_held_at IS NOT NULL")).toHaveLength(11);
  }
  expect(await made.query("SELECT FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([]);
});

test("a run that can record no hold stores nothing, so that new libraries do not lower the share (fault 268)", async () => {
  const made = await syncedFixture(libraries("alice", 0, 3));
  made.service.remove("alice", "lib 1");
  made.service.put(library("alice", "new", { scenarios: [1] }));
  await poison(made, "library_sync", "lib 1");

  const ended = await made.call(["sync"]);
  expect(ended.code).toBe(69);
  const error = "alice/lib 1: recording that its removal is held failed: ";
  expect(logLines(ended).at(-1)).toMatchObject({ code: "database_failed", error: expect.stringContaining(error) });
  expect(await made.query("SELECT FROM simcat.libraries")).toHaveLength(3);

  await heal(made);
  expect((await made.call(["sync"])).code).toBe(3);
  expect((await made.call(["sync"])).code).toBe(3);
  expect(await made.query("SELECT FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([]);
});

test("a run that cannot record that a listing's reject is over is partial, not ok (fault 91)", async () => {
  const made = await syncedFixture(thirty());
  made.service.always({ operation: "listing" }, { kind: "duplicateItem", index: 0, set: { lastModified: NEWER } });
  expect((await made.call(["sync"])).code).toBe(2);
  made.service.script([]);
  const [name = ""] = await made.lines("SELECT library_name FROM simcat.rejects");
  await poison(made, "rejects", name, "XX001");

  expect((await made.call(["backfill"])).code).toBe(2);
  await heal(made);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await made.query("SELECT FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([]);
});

const ALL_REJECTED = ["all_rejected", "rejects", "failure_unrecorded"];

test("a library of which neither the failure nor its rejects can be recorded has one warning (fault 91)", async () => {
  const made = await syncedFixture(thirty());
  made.service.always({ operation: "scenarios", library: "lib 11" }, text('[{"scenarioId":null}]'));
  await poison(made, "library_sync");
  await poison(made, "rejects");

  const ended = await made.call(["backfill"]);

  expect(libraryLogLines(ended)).toEqual(ALL_REJECTED.map((code) => `alice/lib 11 ${code}`));
  expect(ended.stderr).toContain("writing its row of library_sync failed: ");
});

const UNRECORDED = ["rejected_by_database", "failure_unrecorded"];
const editListed = (made: Fixture) => edit(made, "2023-09-11 at 2:56 PM");
const sendNoId = ({ service }: Fixture) =>
  service.always({ operation: "scenarios", library: "lib 11" }, text('[{"scenarioId":null}]'));
const removeThree = ({ service }: Fixture) => {
  for (const at of [10, 11, 12]) service.remove("alice", `lib ${at}`);
};
const removeAndReturn = async ({ service, call }: Fixture) => {
  service.remove("alice", "lib 11");
  await call(["sync"]);
  service.put(library("alice", "lib 11", { scenarios: [1, 2] }));
};

/** Before the database refuses the rows of "lib 11" in a table: what changes, and what the next run reports. */
test.each<
  [string, table: string, command: string, arrange: (made: Fixture) => unknown, codes: readonly string[], run: object]
>([
  ["failure record", "library_sync", "backfill", editListed, UNRECORDED, { libraries_read: 29 }],
  ["listed date", "library_sync", "sync", edit, UNRECORDED, { libraries_read: 29 }],
  ["rejects", "rejects", "backfill", sendNoId, ALL_REJECTED, { libraries_read: 29 }],
  ["removal", "libraries", "sync", removeThree, ["rejected_by_database"], { libraries_removed: 2 }],
  ["return", "libraries", "sync", removeAndReturn, ["rejected_by_database"], {}],
])("a library whose %s is refused fails alone (fault 91)", async (what, table, command, arrange, codes, run) => {
  const made = await syncedFixture(thirty());
  await arrange(made);
  await poison(made, table);
  made.asked();

  const ended = await made.call([command]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual(codes.map((code) => `alice/lib 11 ${code}`));
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_failed: 1, ...run });
  if (table === "rejects") expect(ended.stderr).toContain("recording its rejects failed: ");
  if (what === "listed date") expect(made.asked().filter((line) => line.includes("lib%2011"))).toEqual([]);
  expect(await owing(made)).toEqual(codes === UNRECORDED ? [] : ["lib 11 failure 1"]);
  made.service.script([]);
  await expectRecovery(made, command);
});
