import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test, vi } from "vitest";
import { createStateDir, embeddedStateDir, withLock } from "../../src/embedded-postgres/state-dir.ts";
import { callCli } from "../support/call-cli.ts";
import { never, newStateDir } from "./keepers.ts";

const HOME = tmpdir();

test.runIf(process.platform === "linux").each([
  [1234, "/data/../data/simcat", {}, "/data/simcat"],
  [0, null, { HOME }, "/var/lib/simcat"],
  [1234, null, { HOME, XDG_STATE_HOME: `${HOME}/xdg` }, `${HOME}/xdg/simcat`],
  [1234, null, { HOME, XDG_STATE_HOME: "relative" }, `${HOME}/.local/state/simcat`],
  [1234, null, { HOME }, `${HOME}/.local/state/simcat`],
  [1234, null, { HOME: "relative", TMPDIR: "/var/tmp" }, "/var/tmp/simcat-1234"],
  [1234, null, { HOME: "/dev/null", TMPDIR: "/var/tmp" }, "/var/tmp/simcat-1234"],
  [1234, null, {}, "/tmp/simcat-1234"],
])("the state directory of user %i for SIMCAT_STATE_DIR=%s and %j is %s", (uid, stateDir, environment, expected) => {
  vi.spyOn(process, "getuid").mockReturnValue(uid);
  expect(embeddedStateDir({ stateDir, environment })).toBe(expected);
});

test("creates the state directory with the directories above it, which are private to their user", async () => {
  const base = newStateDir();
  const stateDir = join(base, "a", "b");
  vi.spyOn(process, "getuid").mockReturnValue(1234);
  const created = await Promise.all([1, 2, 3].map(() => createStateDir({ stateDir, environment: {} })));
  expect(created).toEqual([stateDir, stateDir, stateDir]);
  expect([base, stateDir].map((one) => (statSync(one).mode & 0o777).toString(8))).toEqual(["700", "700"]);
});

test.runIf(process.platform === "linux").each([
  ["below a file system that makes no directories", "/proc/simcat/a/b"],
  ["on such a file system", "/proc"],
  ["below a file", "/dev/null/simcat"],
  ["a file", "file"],
  ["a link that leads nowhere", "dangling"],
  ["a link to itself", "loop"],
  ["a name that is too long", "x".repeat(300)],
])("a state directory that is %s ends the command with 78 and names the setting (fault 73)", async (_, place) => {
  const base = newStateDir();
  mkdirSync(base);
  writeFileSync(join(base, "file"), "something else");
  symlinkSync(join(base, "nowhere"), join(base, "dangling"));
  symlinkSync(join(base, "loop"), join(base, "loop"));
  const { code, stderr } = await callCli(["migrate"], { SIMCAT_STATE_DIR: resolve(base, place) });
  const msg = /the embedded database cannot be stored in [\s\S]*; set SIMCAT_STATE_DIR to a writable directory/;
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(msg) });
});

test("runs one piece of work at a time under a lock, and the others although one fails", async () => {
  const stateDir = newStateDir();
  mkdirSync(stateDir);
  let inside = 0;
  const work = async () => {
    const seen = ++inside;
    await new Promise(setImmediate);
    inside--;
    return seen;
  };
  const failing = withLock(stateDir, () => Promise.reject(new Error("failed")), never);
  const others = Promise.all(Array.from({ length: 8 }, () => withLock(stateDir, work, never)));
  await expect(failing).rejects.toThrow("failed");
  expect(await others).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
  expect(readdirSync(stateDir)).toEqual(["lock-name"]);
  expect((statSync(join(stateDir, "lock-name")).mode & 0o777).toString(8)).toBe("600");
});

test("stops waiting for a lock when the signal is aborted", async () => {
  const stateDir = newStateDir();
  mkdirSync(stateDir);
  const abort = new AbortController();
  const nested = async () => {
    const second = withLock(stateDir, async () => {}, abort.signal);
    abort.abort(new Error("enough"));
    return second;
  };
  await expect(withLock(stateDir, nested, never)).rejects.toThrow("enough");
});
