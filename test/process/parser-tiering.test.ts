import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { MAIN, startProgram } from "./program.ts";

/** The WebAssembly functions that V8 reports as optimized in a process. */
async function optimized(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string[]> {
  const { ended } = startProgram(process.execPath, ["--trace-wasm-compilation-times", ...args], environment);
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  return stdout.split("\n").filter((line) => line.includes("TurboFan"));
}

test("V8 does not optimize the HTTP parser in a short run, whose exit would wait for it", async () => {
  const libraries = Array.from({ length: 20 }, (_, at) => library("alice", `Lib ${at}`));
  const { environment, service } = await fixture(libraries);
  const bare = `import { request } from ${JSON.stringify(import.meta.resolve("undici"))};
    for (let i = 0; i < 50; i++) await (await request(process.env.SIMCAT_BASE_URL)).body.dump();`;

  expect(await optimized([MAIN, "sync"], environment)).toEqual([]);

  // Proves that the check can fail: undici without simcat does trigger the optimization.
  expect(await optimized(["--input-type=module", "-e", bare], environment)).not.toEqual([]);
  expect(service.requests.length).toBe(41 + 50);
});
