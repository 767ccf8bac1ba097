import { expect, test } from "vitest";
import { type Fixture, fixture, requestsFor, syncedFixture } from "../support/fixture.ts";
import type { MockLibrary, MockScenario } from "../support/mock/library.ts";
import { changeAll, library, numbered, scenario } from "../support/organization.ts";
import { lastRun, logLines } from "./run-results.ts";

const list = ({ service }: Fixture, scenarios: readonly MockScenario[], name = "Fire"): void => {
  service.change("alice", name, { scenarios });
};
const raw = (source: string): MockScenario => scenario(0, { source });
const open = ({ lines }: Fixture) =>
  lines("SELECT code, path, payload FROM simcat.rejects WHERE resolved_at IS NULL ORDER BY id");

const kinds = ({ lines }: Fixture) =>
  lines("SELECT kind, count(*) FROM simcat.rejects WHERE resolved_at IS NULL GROUP BY kind ORDER BY kind");

test("a reject is one row: kept while it lasts, resolved when fixed, reopened when it recurs", async () => {
  const bad = [scenario(1), raw('{"scenarioId":"2"}')];
  const made = await fixture([library("alice", "Fire", { scenarios: bad }), library("bob", "Water")]);
  const rows = () =>
    made.lines(
      `SELECT id, 'of run ' || run_id, CASE WHEN last_seen_at > first_seen_at THEN 'seen again' ELSE 'new' END,
         CASE WHEN resolved_at >= last_seen_at THEN 'resolved' WHEN resolved_at IS NULL THEN 'open' END
       FROM simcat.rejects ORDER BY id`,
    );

  expect((await made.call(["sync"])).code).toBe(2);
  expect(await rows()).toEqual(["1 of run 1 new open"]);

  made.asked();
  expect((await made.call(["sync"])).code).toBe(2);
  expect(made.asked().toSorted()).toEqual(requestsFor("alice/Fire"));
  expect(await rows()).toEqual(["1 of run 2 seen again open"]);

  list(made, [scenario(1)]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await rows()).toEqual(["1 of run 2 seen again resolved"]);
  made.asked();
  expect((await made.call(["sync"])).code).toBe(0);
  expect(made.asked()).toEqual(["GET /libs"]);

  list(made, bad);
  expect((await made.call(["backfill"])).code).toBe(2);
  expect(await rows()).toEqual(["1 of run 5 seen again open"]);
});

test("rejects in every library say nothing about its date, a missing date does (faults 319, 359)", async () => {
  const bad = [scenario(1), raw('{"scenarioId":"2"}')];
  const made = await fixture(numbered(10).map((one) => ({ ...one, scenarios: bad })));
  const warnings = async () => {
    let codes: unknown;
    for (let run = 1; run <= 4; run++) {
      const { stdout } = await made.call(["sync", "--json"]);
      codes = JSON.parse(stdout).warnings.map(({ code }: { code: string }) => code);
    }
    return codes;
  };

  expect(await warnings()).toEqual([]);
  changeAll(made.service, { lastModified: null });
  expect(await warnings()).toEqual(["dates_untrustworthy"]);
});

test("a listing of another organization leaves no rejects, and none are counted (fault 319)", async () => {
  const made = await syncedFixture(numbered(10));
  for (const { owner, name } of made.service.organization.libraries()) made.service.remove(owner, name);
  made.service.put(library("bob", "Water"), library("bob", "Wind", { entryFields: { lastModified: 5 } }));

  const ended = await made.call(["sync", "--json"]);

  expect(JSON.parse(ended.stdout)).toMatchObject({ status: "held", libraries_listed: 2, rejects: 0, reject_codes: {} });
  expect(logLines(ended).filter(({ code }) => code === "rejects")).toEqual([]);
  expect(await open(made)).toEqual([]);
});

test("up to 100 rejects of a library are kept, all are counted, and a fix resolves all (fault 36)", async () => {
  const bad = (from: number) => Array.from({ length: 250 }, (_, at) => raw(`{"scenarioId":"${from + at}"}`));
  // Equal ones are kept once.
  const scenarios = [scenario(1), ...bad(0).slice(0, 60), ...bad(0)];
  const made = await fixture([library("alice", "Fire", { scenarios })]);

  const ended = await made.call(["sync"]);

  expect(ended.code).toBe(2);
  expect(await lastRun(made.query)).toMatchObject({ rejects: 310, scenarios_inserted: 1 });
  expect(await open(made)).toHaveLength(100);
  expect(logLines(ended).filter(({ code, library: name }) => code === "rejects" && name === "Fire")).toMatchObject([
    { count: 310, msg: "items could not be stored" },
  ]);

  list(made, [scenario(1), ...bad(1_000)]);
  expect((await made.call(["sync"])).code).toBe(2);
  expect(await open(made)).toHaveLength(100);
  expect(await made.lines("SELECT count(*) FROM simcat.rejects")).toEqual(["200"]);

  list(made, [scenario(1)]);
  expect((await made.call(["sync"])).code).toBe(0);
  expect(await open(made)).toEqual([]);

  const edit = (change: Partial<MockLibrary>) => made.service.change("alice", "Fire", change);
  edit({ entryFields: { lastModified: 5 }, scenarios: [scenario(1), ...bad(2_000)] });
  expect((await made.call(["sync"])).code).toBe(2);
  expect(await kinds(made)).toEqual(["listing 1", "scenario 99"]);

  edit({ scenarios: [scenario(1)] });
  expect((await made.call(["sync"])).code).toBe(2);
  expect(await kinds(made)).toEqual(["listing 1"]);
});

test("a payload is kept up to 64 KiB and never cut inside a character", async () => {
  const made = await fixture([
    library("alice", "exact", { scenarios: [scenario(1), raw(`{"scenarioId":"${"x".repeat(65_536 - 17)}"}`)] }),
    library("alice", "over", { scenarios: [scenario(1), raw(`{"scenarioId":"${"🌲".repeat(20_000)}"}`)] }),
    library("alice", "NUL", { scenarios: [scenario(1), raw('{"scenarioId":2,"x":"\\u0000\\ud800"}')] }),
  ]);

  expect((await made.call(["sync"])).code).toBe(2);
  const payloads = "SELECT library_name, octet_length(payload), right(payload, 3) FROM simcat.rejects ORDER BY 1";
  expect(await made.lines(payloads)).toEqual(['NUL 35 0"}', 'exact 65536 x"}', "over 65535 🌲🌲🌲"]);
});

test("rejects of a library that is no longer listed are resolved", async () => {
  const made = await fixture([
    library("alice", "Fire", { scenarios: [scenario(1), raw("5")] }),
    ...Array.from({ length: 4 }, (_, at) => library("bob", `lib ${at}`)),
  ]);
  expect((await made.call(["sync"])).code).toBe(2);
  made.service.remove("alice", "Fire");

  expect((await made.call(["sync"])).code).toBe(0);
  expect(await open(made)).toEqual([]);
  expect(await made.lines("SELECT reread_reason FROM simcat.library_sync WHERE owner = 'alice'")).toEqual(["NULL"]);
});
