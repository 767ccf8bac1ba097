import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { MAIN, startProgram } from "./program.ts";

/** What V8 optimizes of WebAssembly in a process, by its own account. */
async function optimized(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string[]> {
  const { ended } = startProgram(process.execPath, ["--trace-wasm-compilation-times", ...args], environment);
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  return stdout.split("\n").filter((line) => line.includes("TurboFan"));
}

test("the HTTP parser is optimized in a long run only: the end of a short one would wait for it, a tenth of a second and more", async () => {
  const libraries = Array.from({ length: 20 }, (_, at) => library("alice", `Lib ${at}`));
  const { environment, service } = await fixture(libraries);
  const bare = `import { request } from ${JSON.stringify(import.meta.resolve("undici"))};
    for (let i = 0; i < 50; i++) await (await request(process.env.SIMCAT_BASE_URL)).body.dump();`;

  expect(await optimized([MAIN, "sync"], environment)).toEqual([]);

  // So that silence means something: V8 says it, and undici alone brings it about.
  expect(await optimized(["--input-type=module", "-e", bare], environment)).not.toEqual([]);
  expect(service.requests.length).toBe(41 + 50);
});
