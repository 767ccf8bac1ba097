import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, NEWER, numbered, scenario } from "../support/organization.ts";
import { createTrigger } from "../support/trigger.ts";
import { databaseFailed, told } from "./told.ts";

const SAID =
  "could not extend file: No space left on device (53100); free space on the database's disk; the next run continues from what is stored";

const BE_FULL = "RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100';";

test("a full disk while any table is written ends with 69 and a hint; free space resolves it (fault 82)", async () => {
  const { call, query, service } = await syncedFixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  const before = await storedRows(query);
  service.change("alice", "Fire", { lastModified: NEWER, scenarios: [scenario(1), scenario(3)] });
  for (const table of ["scenarios", "library_sync", "libraries", "sync_runs", "leases"]) {
    await createTrigger(query, `BEFORE INSERT OR UPDATE ON simcat.${table} FOR EACH ROW`, BE_FULL);
    expect({ table, ...told(await call(["sync"])) }).toEqual({ table, ...databaseFailed(SAID) });
    const { libraries, scenarios } = await storedRows(query);
    expect({ libraries, scenarios }).toEqual({ libraries: before.libraries, scenarios: before.scenarios });
    expect(await query("SELECT bookmark FROM simcat.library_sync")).toEqual([{ bookmark: "2023-09-11 at 2:56 PM" }]);
    await query("DROP FUNCTION public.act CASCADE");
    await query("UPDATE simcat.leases SET expires_at = '-infinity'");
  }
  expect((await call(["sync"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});

test("a run whose writes fail does not wait for libraries whose service is silent (fault 219)", async () => {
  const { call, query, service } = await fixture(numbered(12));
  expect((await call(["migrate"])).code).toBe(0);
  await createTrigger(query, "BEFORE INSERT ON simcat.libraries FOR EACH ROW", BE_FULL);
  service.always({ library: "Lib 3" }, { kind: "hang" });
  const startedAt = performance.now();

  const { code } = await call(["sync"], { SIMCAT_REQUEST_TIMEOUT: "60s", SIMCAT_MAX_RETRIES: "0" });

  expect(code).toBe(69);
  expect(performance.now() - startedAt).toBeLessThan(50_000);
});
