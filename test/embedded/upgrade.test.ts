import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { migrate } from "../../src/db/migrate.ts";
import {
  chooseAccount,
  findBinaries,
  prepareBinaries,
  runPostgresProgram,
} from "../../src/embedded-postgres/programs.ts";
import { openTestPostgres } from "../support/embedded-server.ts";
import { never, newStateDir, openHere, query } from "./keepers.ts";

const OLD_FILES = ["password", "port", "postgres.log", "closing"];

/**
 * Turns a new database into one as version 0.1.0 created it: simcat is the superuser of initdb, and the whole directory belongs
 * to the server's account, which can put links into it.
 */
async function downgrade(stateDir: string, victim: string): Promise<void> {
  const directory = join(stateDir, "postgres");
  const account = chooseAccount(join(directory, "data"));
  const native = await prepareBinaries(findBinaries(), account, stateDir);
  const sql = [
    "ALTER DATABASE simcat OWNER TO postgres",
    "ALTER DATABASE simcat RESET search_path",
    "UPDATE pg_class SET relowner = 10, relacl = NULL WHERE relowner = 'simcat'::regrole",
    "UPDATE pg_proc SET proowner = 10 WHERE proowner = 'simcat'::regrole",
    "UPDATE pg_namespace SET nspowner = 10, nspacl = NULL WHERE nspowner = 'simcat'::regrole",
    "DELETE FROM pg_default_acl",
    "DELETE FROM pg_authid WHERE rolname ~ '^simcat'",
    "UPDATE pg_authid SET rolname = 'simcat' WHERE oid = 10",
    "",
  ];
  const command = ["postgres", "--single", "-c", "exit_on_error=on", "simcat"];
  const input = sql.join("\n");
  const server = { directory, native, account, settings: {}, environment: process.env };
  const { code, output } = await runPostgresProgram(server, command, { input });
  expect(code, output).toBe(0);
  rmSync(join(directory, "pgpass"));
  for (const name of OLD_FILES) {
    rmSync(join(directory, name), { force: true });
    symlinkSync(victim, join(directory, name));
  }
  mkdirSync(join(directory, "users/1"), { recursive: true });
  for (const place of ["users/a", "users/1/a"]) symlinkSync(dirname(victim), join(directory, place));
  if (account !== null) execFileSync("chown", ["-hR", `${account.uid}:${account.gid}`, directory]);
}

test("keeps the data of 0.1.0, makes simcat an ordinary role, follows no link of its account (fault 155)", async () => {
  const stateDir = newStateDir();
  const first = await openTestPostgres(stateDir);
  await migrate(first.url, never);
  await query(first.url, "INSERT INTO simcat.leases VALUES ('kept', 'a test', 1, now())");
  await first.stop();
  const victim = join(dirname(stateDir), "victim");
  mkdirSync(victim);
  writeFileSync(join(victim, "file"), "precious");
  await downgrade(stateDir, join(victim, "file"));

  const upgraded = await openHere(stateDir);

  expect(readFileSync(join(victim, "file"), "utf8")).toBe("precious");
  expect(statSync(join(stateDir, "postgres")).uid).toBe(process.getuid?.());
  const files = readdirSync(join(stateDir, "postgres")).sort();
  expect(files).toEqual(["data", "password", "pgpass", "port", "postgres.log"]);
  expect(await query(upgraded.url, "SELECT name FROM simcat.leases")).toEqual([{ name: "kept" }]);
  const owners = `SELECT relowner::regrole::text AS owner, rolsuper FROM pg_class JOIN pg_roles r ON r.oid = relowner
    WHERE relnamespace::regnamespace::text ~ '^simcat' GROUP BY 1, 2`;
  expect(await query(upgraded.url, owners)).toEqual([{ owner: "simcat", rolsuper: false }]);
  await migrate(upgraded.url, never);
  expect(await query(upgraded.readerUrl, "SELECT FROM libraries")).toEqual([]);
  await upgraded.stop();
  const again = await openHere(stateDir);
  expect(again.url).toBe(upgraded.url);
  await again.stop();
});
