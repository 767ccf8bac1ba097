import { chmodSync, chownSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseAccount } from "../../src/embedded-postgres/programs.ts";
import { readableProject } from "../support/readable-project.ts";
import { newStateDir, query, startKeeper } from "./keepers.ts";

const NOBODY = 65534;
const NAMELESS = 54321;
const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)("as root", () => {
  test("runs the server as another user, even below a directory that only root can enter", async () => {
    const stateDir = newStateDir();
    expect((statSync(dirname(stateDir)).mode & 0o777).toString(8)).toBe("700");
    const keeper = startKeeper(stateDir);
    const { url, dataDirectory } = await keeper.opened;
    expect(statSync(dataDirectory).uid).not.toBe(0);
    // Sessions and vacuum each open files of their own.
    await query(url, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
    await query(url, "VACUUM ANALYZE kept");
    expect(await keeper.stop()).toBe(0);
  });

  test("refuses a state directory that belongs to the server's account (fault 155)", async () => {
    const account = chooseAccount("/nonexistent");
    const stateDir = ownedDirectory(account?.uid ?? NOBODY);
    const keeper = startKeeper(stateDir);
    await expect(keeper.opened).rejects.toThrow("belongs to the account of the embedded Postgres");
    expect(await keeper.stop()).toBe(1);
  });
});

describe.runIf(isRoot)("without an environment", () => {
  const project = isRoot ? readableProject() : "";

  test("creates the database in the temporary directory", async () => {
    const temporary = ownedDirectory(NOBODY);
    const keeper = startKeeper(null, { other: { uid: NOBODY, project }, environment: { TMPDIR: temporary } });
    const { url, dataDirectory } = await keeper.opened;
    expect(dataDirectory).toBe(join(temporary, `simcat-${NOBODY}`, "postgres", "data"));
    expect(statSync(dataDirectory).uid).toBe(NOBODY);
    expect(await query(url, "SELECT current_user AS role")).toEqual([{ role: "simcat" }]);
    expect(await keeper.stop()).toBe(0);
  });

  test("names DATABASE_URL if the user id has no passwd entry", async () => {
    const temporary = ownedDirectory(NAMELESS);
    const keeper = startKeeper(null, { other: { uid: NAMELESS, project }, environment: { TMPDIR: temporary } });
    await expect(keeper.opened).rejects.toThrow(
      /could not look up effective user ID 54321[\s\S]*set DATABASE_URL to a Postgres 14 to 18/,
    );
    expect(await keeper.stop()).toBe(1);
  });

  test("names SIMCAT_STATE_DIR if the directory belongs to another user", async () => {
    const closed = newStateDir();
    mkdirSync(closed, { mode: 0o755 });
    chmodSync(dirname(closed), 0o755);
    const keeper = startKeeper(closed, { other: { uid: NOBODY, project }, environment: {} });
    await expect(keeper.opened).rejects.toThrow(`the embedded database cannot be stored in ${closed}`);
    expect(await keeper.stop()).toBe(1);
  });
});

function ownedDirectory(uid: number): string {
  const directory = newStateDir();
  chmodSync(dirname(directory), 0o755);
  mkdirSync(directory);
  chownSync(directory, uid, uid);
  return directory;
}
