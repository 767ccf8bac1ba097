import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withLock } from "../../src/embedded-postgres/client-registrations.ts";
import { processIdentity } from "../../src/embedded-postgres/processes.ts";
import { never, newStateDir } from "./keepers.ts";

test("runs one piece of work at a time under a lock, and all of them in the end", async () => {
  const directory = newDirectory();
  let inside = 0;
  const seen: number[] = [];
  const work = async () => {
    seen.push(++inside);
    await new Promise(setImmediate);
    inside--;
  };
  await Promise.all(Array.from({ length: 8 }, () => withLock(directory, work, never)));
  expect(seen).toEqual(Array.from({ length: 8 }, () => 1));
  expect(readdirSync(directory)).toEqual([]);
});

test("releases the lock if the work fails", async () => {
  const directory = newDirectory();
  const fail = () => withLock(directory, () => Promise.reject(new Error("failed")), never);
  await expect(fail()).rejects.toThrow("failed");
  await expect(fail()).rejects.toThrow("failed");
});

test("breaks the lock of a dead process and removes its drafts", async () => {
  const directory = newDirectory();
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  expect(processIdentity(dead)).toBe(null);
  for (const name of ["lock", `lock-${dead}-abcdef`]) {
    mkdirSync(join(directory, name));
    writeFileSync(join(directory, name, `${dead}.12345.claim`), "");
  }
  expect(await withLock(directory, async () => readdirSync(directory), never)).toEqual(["lock"]);
});

test("breaks the lock of a dead process whose id belongs to another process now", async () => {
  const directory = newDirectory();
  mkdirSync(join(directory, "lock"));
  writeFileSync(join(directory, "lock", `${process.pid}.another.claim`), "");
  expect(await withLock(directory, async () => "mine", never)).toBe("mine");
});

test("stops waiting for a lock when the signal is aborted", async () => {
  const directory = newDirectory();
  const abort = new AbortController();
  const waiting = withLock(
    directory,
    async () => {
      const second = withLock(directory, async () => {}, abort.signal);
      abort.abort(new Error("enough"));
      return second;
    },
    never,
  );
  await expect(waiting).rejects.toThrow("enough");
});

function newDirectory(): string {
  const directory = newStateDir();
  mkdirSync(directory);
  return directory;
}
