import { expect, test } from "vitest";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

test("a library that appears under another owner with as much content as the removed one is shown as moved", async () => {
  const others = ["a", "b", "c", "d", "e", "f", "g"].map((name) => library("dan", name));
  const { call, lines, service } = await syncedFixture([
    ...others,
    library("ann", "Fire", { scenarios: [1, 2] }),
    library("ann", "Water", { scenarios: [1, 2] }),
    library("ann", "Wind", { scenarios: [1] }),
  ]);
  for (const name of ["Fire", "Water"]) service.remove("ann", name);
  service.put(library("eve", "Fire", { scenarios: [1, 2] }));
  service.put(library("eve", "Water", { scenarios: [1, 2, 3] }));
  service.put(library("eve", "Wind", { scenarios: [1] }));
  await call(["sync"]);

  const moves = `SELECT run_id, library_name, 'from', old_owner, 'to', new_owner, scenario_count, file_size_bytes, seen_at IS NOT NULL
    FROM simcat_report.library_moves`;
  expect(await lines(moves)).toEqual(["2 Fire from ann to eve 2 245760 true"]);
});
