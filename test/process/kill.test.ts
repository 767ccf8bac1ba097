import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createOrganization } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import { fixture } from "../support/fixture.ts";
import { createDateSource } from "../support/mock/date-source.ts";
import { EDITS } from "../support/mock/edits.ts";
import { brokenHistories, expireLease, serviceRows, storedRows } from "./service-rows.ts";

const KILLS = Number(process.env.SIMCAT_TEST_KILLS ?? 8);
const SEED = Number(process.env.SIMCAT_TEST_SEED ?? 49);
const EDITED = ["runParent", "addParent", "editScenario", "deleteScenario", "editMetadata", "addLibrary"] as const;

/** Statements and commits are slow, as on a remote server, so that a random moment interrupts them. */
const SLOW = `
CREATE FUNCTION public.take_time() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_LEVEL = 'STATEMENT' OR random() < 0.08 THEN PERFORM pg_sleep(0.015); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER slow_statement AFTER INSERT OR UPDATE ON simcat.scenarios FOR EACH STATEMENT EXECUTE FUNCTION public.take_time();
CREATE CONSTRAINT TRIGGER slow_commit AFTER UPDATE ON simcat.library_sync DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION public.take_time();`;

const EMPTIED =
  "TRUNCATE simcat.libraries, simcat.scenarios, simcat.library_sync, simcat.library_history, simcat.scenario_history";

test("one quiet run after a kill at any moment restores the service's content (faults 62, 65, 66)", {
  timeout: 60_000 + KILLS * 10_000,
}, async () => {
  const random = createRandom(SEED);
  const now = new Date("2026-05-04T12:00:00Z");
  const dateSource = createDateSource({ clock: () => now });
  const libraries = createOrganization({ seed: SEED, libraries: 40, scenariosPerLibrary: 12, now }).libraries();
  let arrived = () => {};
  const { service, query, start, call } = await fixture(libraries, {
    latencyMs: 3,
    onRequest: () => {
      arrived();
      return undefined;
    },
  });
  await query(SLOW);
  let tokens = 0;

  for (let kill = 1; kill <= KILLS; kill++) {
    // Alternately from an empty copy and from an older one.
    if (kill % 2 === 1) await query(EMPTIED);
    else {
      for (let edit = 0; edit < 25; edit++) {
        service.edit((organization) =>
          EDITS[random.pick(EDITED)](organization, random.pick(organization.libraries()), random, dateSource),
        );
      }
    }
    const wanted = random.below(2 * service.organization.size + 1);
    const more = random.below(90);
    const which = `seed ${SEED}, kill ${kill}, ${more} ms after request ${wanted + 1}`;
    const asked = new Promise<void>((resolve) => {
      let count = 0;
      arrived = () => {
        count += 1;
        if (count > wanted) resolve();
      };
    });
    const doomed = start(["backfill", "--restart"]);
    await Promise.race([asked, doomed.ended]);
    await sleep(more);
    doomed.process.kill("SIGKILL");
    await doomed.ended;
    const [dead] = await query<{ at: Date }>("SELECT clock_timestamp() AS at");
    await expireLease(query);

    const quiet = await call(["backfill"]);

    expect({ which, code: quiet.code, out: quiet.code === 0 ? "" : quiet.stdout }).toEqual({ which, code: 0, out: "" });
    expect(await storedRows(query), which).toEqual(serviceRows(service.organization));
    expect(await brokenHistories(query), which).toEqual([]);
    // A run killed after its last commit had already reported its result.
    const [last, killed] = await query<{ status: string; had_ended: boolean }>(
      "SELECT status, finished_at <= $1 AS had_ended FROM simcat.sync_runs ORDER BY id DESC LIMIT 2",
      [dead?.at],
    );
    expect([last?.status, killed?.status], which).toEqual(["ok", killed?.had_ended ? "ok" : "abandoned"]);
    const [lease] = await query<{ token: number }>("SELECT token::int FROM simcat.leases");
    expect(lease?.token, which).toBeGreaterThan(tokens);
    tokens = lease?.token ?? 0;
  }
  expect(service.violations).toEqual([]);
});
