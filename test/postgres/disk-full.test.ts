import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { startOwnServer } from "./own-server.ts";
import { told } from "./told.ts";

const MEND = "free space on the database's disk; the next run continues from what is stored";
/** Incompressible: 60 scenarios of 40 KB need more than the free space of the disk. */
const long = () => Array.from({ length: 2_500 }, () => Math.random().toString(36).slice(2, 18)).join("");
const big = () => Array.from({ length: 60 }, (_, at) => scenario(at + 1, { description: long() }));

/** A disk of four megabytes; null if this account may not mount one. */
function mountSmallDisk(owner: number): string | null {
  const disk = mkdtempSync(join(tmpdir(), "simcat-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,mode=0711", "tmpfs", disk], { stdio: "ignore" });
  } catch {
    rmSync(disk, { recursive: true });
    return null;
  }
  chownSync(disk, owner, -1);
  onTestFinished(() => {
    execFileSync("umount", ["-l", disk]);
    rmSync(disk, { recursive: true, force: true });
  });
  return disk;
}

test("a full disk ends the run with 69 and a hint; the copy stays, and free space resolves it (fault 82)", {
  timeout: 120_000,
}, async (context) => {
  const server = await startOwnServer();
  const { query } = server;
  const disk = mountSmallDisk(statSync(server.dataDirectory).uid);
  if (disk === null) return context.skip("needs the right to mount a tmpfs: run it as root");
  const { simcat, service } = await fixture([
    library("alice", "Fire", { scenarios: [1, 2] }),
    library("bob", "Water", { scenarios: [1] }),
  ]);
  const toServer = { DATABASE_URL: server.url };
  await simcat(["sync"], toServer);
  await query(`CREATE TABLESPACE small LOCATION '${disk}'`);
  await query("ALTER TABLE simcat.scenarios SET TABLESPACE small");
  const before = await storedRows(query);
  service.change("alice", "Fire", { lastModified: "2024-01-02 at 3:04 PM", scenarios: big() });
  writeFileSync(join(disk, "ballast"), Buffer.alloc(2 * 2 ** 20));

  const ended = await simcat(["sync"], toServer);

  const said = expect.stringMatching(
    new RegExp(`could not extend file .*No space left on device \\(53100\\); ${MEND}$`),
  );
  expect(told(ended)).toEqual({ exit: 69, code: "database_failed", said });
  const after = await storedRows(query);
  expect({ libraries: after.libraries, scenarios: after.scenarios }).toEqual({
    libraries: before.libraries,
    scenarios: before.scenarios,
  });
  expect(await query("SELECT status, error, libraries_changed FROM simcat.sync_runs ORDER BY id DESC LIMIT 1")).toEqual(
    [{ status: "database_failed", error: said, libraries_changed: 0 }],
  );
  expect(await query("SELECT bookmark FROM simcat.library_sync WHERE owner = 'alice'")).toEqual([
    { bookmark: "2023-09-11 at 2:56 PM" },
  ]);

  rmSync(join(disk, "ballast"));
  await query("ALTER TABLE simcat.scenarios SET TABLESPACE pg_default");
  expect((await simcat(["sync"], toServer)).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  await query("DROP TABLESPACE small");
});

test("a full disk while any table is written ends with 69 and a hint; free space resolves it (fault 82)", async () => {
  const { call, simcat, query, service } = await fixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  await query(`CREATE FUNCTION public.be_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`);
  for (const table of ["scenarios", "library_sync", "libraries", "sync_runs", "leases"]) {
    await query(
      `CREATE TRIGGER be_full BEFORE INSERT OR UPDATE ON simcat.${table} FOR EACH ROW EXECUTE FUNCTION public.be_full()`,
    );
    const said = expect.stringContaining(`could not extend file: No space left on device (53100); ${MEND}`);
    const ended = await call(["sync"]);
    expect({ table, ...told(ended) }).toEqual({ table, exit: 69, code: "database_failed", said });
    expect(await query("SELECT owner FROM simcat.libraries UNION ALL SELECT owner FROM simcat.scenarios")).toEqual([]);
    await query(`DROP TRIGGER be_full ON simcat.${table}`);
    await query("UPDATE simcat.leases SET expires_at = '-infinity'");
  }
  expect((await simcat(["sync"])).code).toBe(0);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
});
