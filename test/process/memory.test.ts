import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startProgram } from "../support/cli.ts";
import { syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const PRINT_MEMORY =
  'data:text/javascript,process.on("exit",()=>process._rawDebug("peak",process.resourceUsage().maxRSS>>10))';

/** A copy of the built program in which V8 optimizes WebAssembly. */
function copyWithOptimizer(): string {
  const directory = mkdtempSync(join(tmpdir(), "simcat-memory-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const path of ["dist", "migrations", "package.json"]) {
    cpSync(path, join(directory, path), { recursive: true });
  }
  symlinkSync(resolve("node_modules"), join(directory, "node_modules"));
  const chunks = join(directory, "dist/chunks");
  const edited = readdirSync(chunks).filter((name) => {
    const source = readFileSync(join(chunks, name), "utf8");
    writeFileSync(join(chunks, name), source.replace('"--liftoff-only"', '"--no-liftoff-only"'));
    return source.includes('"--liftoff-only"');
  });
  expect(edited).toHaveLength(1);
  return join(directory, "dist/main.js");
}

test("a run without news takes at most 100 MB, and on Node 20 less than with the optimizer of WebAssembly", async () => {
  const { environment } = await syncedFixture(Array.from({ length: 200 }, (_, at) => library("alice", `Lib ${at}`)));
  const settings = { ...environment, NODE_OPTIONS: `--import ${JSON.stringify(PRINT_MEMORY)}` };
  const peak = async (main: string): Promise<number> => {
    const { code, stderr } = await startProgram(process.execPath, [main, "sync"], settings).ended;
    expect(code).toBe(0);
    return Number(/peak (\d+)/.exec(stderr)?.[1]);
  };
  const megabytes = await peak(resolve("dist/main.js"));
  expect(megabytes).toBeGreaterThan(30);
  expect(megabytes).toBeLessThanOrEqual(100);
  if (process.version.startsWith("v20.")) expect(megabytes).toBeLessThan((await peak(copyWithOptimizer())) - 3);
});
