import { expect, test } from "vitest";
import { type Fixture, fixture } from "../support/fixture.ts";
import { changeLibrary, changeScenario } from "../support/mock/library.ts";
import { library, scenario } from "../support/organization.ts";
import { startWorker } from "../worker/worker-under-test.ts";

const NOW = "2030-01-02 at 3:04 PM";
const FIVE = [1, 2, scenario(3, { parentId: 1 }), scenario(4, { parentId: 1 }), scenario(5, { parentId: 2 })];
const SMALL = [library("ann", "Lake", { scenarios: FIVE }), library("bo", "Fire", { scenarios: [1] })];

/** The counts that runs maintain per library: live scenarios and results. */
const kept = ({ query }: Fixture) =>
  query(
    "SELECT library_name AS library, scenario_count::int AS scenarios, result_count::int AS results FROM simcat.library_sync ORDER BY owner",
  );

const liveScenarios = async ({ simcat }: Fixture) =>
  JSON.parse((await simcat(["status", "--json"])).stdout).scenarios.live;

test("counts follow removals, returns, flags, rejects, and libraries that appear and vanish (fault 111)", async () => {
  const made = await fixture(SMALL);
  const sync = (change: Parameters<typeof made.service.edit>[0]) => {
    made.service.edit(change);
    return made.simcat(["sync", "--allow-removals"]);
  };
  await made.call(["backfill"]);
  expect(await kept(made)).toEqual([
    { library: "Lake", scenarios: 5, results: 3 },
    { library: "Fire", scenarios: 1, results: 0 },
  ]);
  expect(await liveScenarios(made)).toBe(6);

  await sync((all) => {
    const lake = SMALL[0];
    changeLibrary(all, "ann", "Lake", { lastModified: NOW, scenarios: lake ? changeScenario(lake, 5, null) : [] });
  });
  expect(await kept(made)).toMatchObject([{ scenarios: 4, results: 2 }, {}]);

  await sync((all) => {
    const back = [1, 2, 3].map((id) => scenario(id)).concat(scenario(5, { parentId: 2 }));
    // An unreadable scenario keeps its row and is still counted.
    const bad = scenario(4, { source: '{"scenarioId":4,"isResult":"yes"}' });
    changeLibrary(all, "ann", "Lake", { lastModified: `${NOW} `, scenarios: [...back, bad] });
  });
  expect(await kept(made)).toMatchObject([{ scenarios: 5, results: 2 }, {}]);

  await sync((all) => all.remove("ann", "Lake"));
  expect(await liveScenarios(made)).toBe(1);
  await sync((all) => all.put(library("ann", "Lake", { scenarios: FIVE })));
  expect(await kept(made)).toMatchObject([{ scenarios: 5, results: 3 }, {}]);
  expect(await liveScenarios(made)).toBe(6);
});

test("neither status nor the worker's routes read the scenarios table (fault 111)", async () => {
  const made = await fixture(SMALL);
  await made.call(["backfill"]);
  const worker = startWorker(made.environment);
  await worker.untilLogged("next_run");
  const holder = await made.database.pool.connect();
  try {
    // From here on, any reader of the table waits for the lock.
    await holder.query("BEGIN; LOCK TABLE simcat.scenarios, simcat.scenario_history");
    expect(await liveScenarios(made)).toBe(6);
    expect((await worker.readyz()).status).toBe(200);
    expect(await (await worker.get("/")).text()).toMatch(/scenarios<\/dt><dd>6</);
    expect(await worker.metric("simcat_open_rejects")).toBe(0);
  } finally {
    await holder.query("ROLLBACK");
    holder.release();
  }
});
