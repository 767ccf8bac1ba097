import { expect, test } from "vitest";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { type Gate, gateAfter } from "./gate.ts";
import { expireLease, serviceRows, storedRows } from "./service-rows.ts";

test("a library restored under its old date is read by the run after a killed one (faults 46, 62)", async () => {
  let gate: Gate | null = null;
  const stay = ["b", "c", "d", "e"].map((name) => library("alice", name, { scenarios: [1] }));
  const { start, simcat, query, service } = await syncedFixture(
    [library("alice", "a", { scenarios: [1, 2] }), ...stay],
    {
      onRequest: (request) => gate?.onRequest(request),
    },
  );
  service.remove("alice", "a");
  expect((await simcat(["sync"])).code).toBe(0);
  service.put(library("alice", "a", { scenarios: [2, 3] }));

  gate = gateAfter(0);
  const doomed = start(["sync"]);
  await gate.reached;
  doomed.process.kill("SIGKILL");
  await doomed.ended;
  gate.open();
  gate = null;
  await expireLease(query);

  expect(await query("SELECT removed_at FROM simcat.libraries WHERE library_name = 'a'")).toEqual([
    { removed_at: null },
  ]);
  expect((await simcat(["sync"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});
