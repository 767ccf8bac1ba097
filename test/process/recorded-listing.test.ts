import { expect, test } from "vitest";
import { untilSession, WAITS_FOR_LOCK } from "../postgres/sessions.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { expireLease } from "./service-rows.ts";

test("a run that is killed while it records 10,050 dates keeps the first 10,000; the next run continues", async () => {
  const first = Array.from({ length: 10_000 }, (_, at) => library("first", `Lib ${at}`));
  const last = Array.from({ length: 50 }, (_, at) => library("last", `Lib ${at}`, { scenarios: [at + 1] }));
  const { start, simcat, query, database } = await fixture([...first, ...last]);
  const recorded = () => query("SELECT owner, count(*)::int AS dates FROM simcat.library_sync GROUP BY 1 ORDER BY 1");
  const other = await database.pool.connect();
  await other.query("BEGIN");
  await other.query("INSERT INTO simcat.library_sync (owner, library_name) VALUES ('last', 'Lib 49')");

  const doomed = start(["sync"]);
  await untilSession(query, WAITS_FOR_LOCK);
  doomed.process.kill("SIGKILL");
  await doomed.ended;
  await other.query("ROLLBACK");
  other.release();

  expect(await recorded()).toEqual([{ owner: "first", dates: 10_000 }]);
  await expireLease(query);
  expect(JSON.parse((await simcat(["sync", "--dry-run", "--json"])).stdout)).toMatchObject({
    read: { length: 10_050, 0: { owner: "first", library: "Lib 0" }, 10049: { owner: "last", library: "Lib 49" } },
  });
  const selected = ["--owner", "last", "--library", "first/Lib 0"];
  expect((await simcat(["sync", ...selected])).stdout).toContain("51 read");
  expect(await recorded()).toEqual([
    { owner: "first", dates: 10_000 },
    { owner: "last", dates: 50 },
  ]);
  expect((await simcat(["verify", ...selected])).code).toBe(0);
  expect(await query("SELECT count(*)::int AS libraries FROM simcat_report.libraries")).toEqual([{ libraries: 51 }]);
});
