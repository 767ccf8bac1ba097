import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

test("a library that appears under another owner with as much content as the removed one is shown as moved", async () => {
  const others = ["a", "b", "c", "d", "e", "f", "g"].map((name) => library("dan", name));
  const { call, query, service } = await fixture([
    ...others,
    library("ann", "Fire", { scenarios: [1, 2] }),
    library("ann", "Water", { scenarios: [1, 2] }),
    library("ann", "Wind", { scenarios: [1] }),
  ]);
  await call(["backfill"]);
  for (const name of ["Fire", "Water"]) service.remove("ann", name);
  service.put(library("eve", "Fire", { scenarios: [1, 2] }));
  service.put(library("eve", "Water", { scenarios: [1, 2, 3] }));
  service.put(library("eve", "Wind", { scenarios: [1] }));
  await call(["sync"]);

  expect(await query("SELECT * FROM simcat_report.library_moves")).toEqual([
    {
      seen_at: expect.any(Date),
      run_id: "2",
      library_name: "Fire",
      old_owner: "ann",
      new_owner: "eve",
      scenario_count: "2",
      file_size_bytes: String(240 * 1024),
    },
  ]);
});
