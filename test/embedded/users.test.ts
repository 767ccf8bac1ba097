import { chmodSync, chownSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { openProject } from "../support/open-project.ts";
import { newStateDir, query, startKeeper } from "./keepers.ts";

const NOBODY = 65534;
const NAMELESS = 54321;
const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)("as root", () => {
  test("the server runs as another user, even below a directory that is root's alone", async () => {
    const stateDir = newStateDir();
    expect((statSync(dirname(stateDir)).mode & 0o777).toString(8)).toBe("700");
    const keeper = startKeeper(stateDir);
    const { url, dataDirectory } = await keeper.opened;
    expect(statSync(dataDirectory).uid).not.toBe(0);
    // Sessions, vacuum and checkpoints each open files of their own.
    await query(url, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n");
    await query(url, "VACUUM ANALYZE kept");
    await query(url, "CHECKPOINT");
    expect(await keeper.stop()).toBe(0);
  });

  test("the same in a directory that everybody can pass", async () => {
    const stateDir = newStateDir();
    chmodSync(dirname(stateDir), 0o755);
    const keeper = startKeeper(stateDir);
    const { url, dataDirectory } = await keeper.opened;
    expect(await query(url, "SHOW data_directory")).toEqual([{ data_directory: dataDirectory }]);
    expect(await keeper.stop()).toBe(0);
  });
});

describe.runIf(isRoot)("without an environment", () => {
  const project = isRoot ? openProject() : "";

  test.each([
    ["nobody", NOBODY],
    ["a user id that has no name", NAMELESS],
  ])("%s gets a database in the temporary directory", async (_, uid) => {
    const temporary = ownedDirectory(uid);
    const keeper = startKeeper(null, { other: { uid, project }, environment: { TMPDIR: temporary } });
    const { url, dataDirectory } = await keeper.opened;
    expect(dataDirectory).toBe(join(temporary, `simcat-${uid}`, "postgres", "data"));
    expect(statSync(dataDirectory).uid).toBe(uid);
    expect(await query(url, "SELECT current_user AS role")).toEqual([{ role: "simcat" }]);
    expect(await keeper.stop()).toBe(0);
  });

  test("a directory of somebody else's is told with the name of its setting", async () => {
    const closed = newStateDir();
    mkdirSync(closed, { mode: 0o755 });
    chmodSync(dirname(closed), 0o755);
    const keeper = startKeeper(closed, { other: { uid: NOBODY, project }, environment: {} });
    await expect(keeper.opened).rejects.toThrow(`the embedded database cannot be kept in ${closed}`);
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
