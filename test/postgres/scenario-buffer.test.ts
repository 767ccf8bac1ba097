import { expect, onTestFinished, test } from "vitest";
import { createScenarioBuffers } from "../../src/db/store/scenario-buffer.ts";
import type { Scenario } from "../../src/model.ts";
import { freshTestDatabase } from "../support/database.ts";
import { lowerMemoryLimits } from "../support/memory-limits.ts";
import { openPool } from "../support/pool.ts";
import { createTrigger } from "../support/trigger.ts";

const never = new AbortController().signal;

const named = (id: number, name: string): Scenario => ({
  id,
  parentId: null,
  name,
  isResult: false,
  lastModified: null,
  description: null,
  source: JSON.stringify({ scenarioId: id, scenarioName: name }),
});

test("a retried list has no rows of the first attempt that could not be deleted (fault 210)", async () => {
  const database = await freshTestDatabase();
  await createTrigger(database.query, "BEFORE DELETE ON simcat.scenario_staging FOR EACH ROW", "RAISE 'not this row';");
  await database.query(
    "INSERT INTO simcat.leases (name, holder, token, expires_at) VALUES ('sync', 'test', 1, 'infinity')",
  );
  const lease = { pool: await openPool(database), name: "sync", token: 1, lost: never };
  onTestFinished(lowerMemoryLimits({ itemsOfList: 1, itemsAtOnce: 1 }));
  const parsers = { microseconds: () => null, bytes: () => null };
  const createBuffer = await createScenarioBuffers({ lease, parsers });
  const buffer = createBuffer();
  await buffer.add([named(1, "old"), named(2, "old")]);

  await buffer.restart();
  await buffer.add([named(1, "new"), named(2, "new")]);
  const set = await buffer.finish();

  const staged = "SELECT scenario_name AS name FROM simcat.scenario_staging WHERE stage = $1 ORDER BY scenario_id";
  expect(await database.query(staged, ["stage" in set ? set.stage : ""])).toEqual([{ name: "new" }, { name: "new" }]);
});
