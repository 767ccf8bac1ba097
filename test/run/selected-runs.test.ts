import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";

test("a date that a selected run saw is remembered: its library is read even if the old date returns", async () => {
  const { call, lines, service } = await syncedFixture([
    library("alice", "Fire", { scenarios: [1] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  const amend = (lastModified: string) =>
    service.change("alice", "Fire", { lastModified, scenarios: [scenario(1, { scenarioName: "new" })] });
  amend("2023-10-01 at 1:00 PM");
  expect((await call(["sync", "--library", "bob/Water"])).code).toBe(0);
  amend("2023-09-11 at 2:56 PM");

  expect((await call(["sync"])).code).toBe(0);

  expect(await lines("SELECT scenario_name FROM simcat.scenarios WHERE owner = 'alice'")).toEqual(["new"]);
});

test("a selected run records every listed library and marks nothing outside its scope", async () => {
  const { call, lines, service } = await fixture([
    library("alice", "Fire", { scenarios: [1] }),
    library("bob", "Water", { scenarios: [1] }),
    library("bob", "Ice", { scenarios: [1] }),
  ]);
  expect((await call(["sync", "--owner", "bob"])).code).toBe(0);
  const stored = "SELECT owner, bookmark IS NOT NULL FROM simcat.library_sync ORDER BY owner";
  expect(await lines(stored)).toEqual(["alice false", "bob true", "bob true"]);
  await call(["sync"]);
  service.once({ operation: "listing" }, { kind: "dropItems", from: 0, count: 1 });
  expect((await call(["sync", "--owner", "bob"])).code).toBe(0);
  expect(await lines("SELECT owner FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([]);
});
