import { expect, test, vi } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { changeLibrary } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines } from "./run-results.ts";

// Many consecutive runs, each of which can be slow on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

test("rows that only Postgres refuses fail their library only, in a batch with others (fault 33)", async () => {
  const made = await syncedFixture(
    Array.from({ length: 12 }, (_, at) => library("alice", `lib ${at}`, { scenarios: [1, 2] })),
  );
  await made.query("ALTER TABLE simcat.scenarios ADD CONSTRAINT refuses CHECK (description <> 'poison')");
  made.service.edit((organization) => {
    for (let at = 0; at < 12; at++) {
      const description = at === 3 || at === 8 ? "poison" : "fine";
      changeLibrary(organization, "alice", `lib ${at}`, {
        lastModified: "2030-01-02 at 3:04 PM",
        scenarios: [scenario(1), scenario(2, { description })],
      });
    }
  });

  const ended = await made.simcat(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual([
    { owner: "alice", library: "lib 3", code: "rejected_by_database" },
    { owner: "alice", library: "lib 8", code: "rejected_by_database" },
  ]);
  expect(await lastRun(made.query)).toMatchObject({
    status: "partial",
    libraries_read: 10,
    libraries_failed: 2,
    scenarios_updated: 10,
  });
  expect(
    await made.query(
      "SELECT library_name AS name, bookmark, reread_reason FROM simcat.library_sync WHERE reread_reason IS NOT NULL ORDER BY 1",
    ),
  ).toEqual([
    { name: "lib 3", bookmark: "2023-09-11 at 2:56 PM", reread_reason: "failure" },
    { name: "lib 8", bookmark: "2023-09-11 at 2:56 PM", reread_reason: "failure" },
  ]);

  await made.query("ALTER TABLE simcat.scenarios DROP CONSTRAINT refuses");
  expect((await made.simcat(["sync"])).code).toBe(0);
});

test("a row of a long list that only Postgres refuses fails its library only (fault 33)", async () => {
  const long = Array.from({ length: 60_000 }, (_, at) =>
    scenario(at + 1, at === 54_321 ? { description: "poison" } : {}),
  );
  const made = await fixture([
    library("alice", "before", { scenarios: [1] }),
    library("alice", "long", { scenarios: long }),
    library("alice", "after", { scenarios: [1] }),
  ]);
  await made.query("ALTER TABLE simcat.scenario_staging ADD CONSTRAINT refuses CHECK (description <> 'poison')");

  const ended = await made.simcat(["sync"]);

  expect(ended.code).toBe(2);
  expect(libraryLogLines(ended)).toEqual([{ owner: "alice", library: "long", code: "rejected_by_database" }]);
  expect(await lastRun(made.query)).toMatchObject({ status: "partial", libraries_read: 2, libraries_failed: 1 });
  expect(await made.query("SELECT library_name AS name FROM simcat.libraries ORDER BY 1")).toEqual([
    { name: "after" },
    { name: "before" },
  ]);
  expect(await made.query("SELECT reread_reason FROM simcat.library_sync WHERE library_name = 'long'")).toEqual([
    { reread_reason: "failure" },
  ]);
  expect(await made.query("SELECT count(*)::int AS staged FROM simcat.scenario_staging")).toEqual([{ staged: 0 }]);
});
