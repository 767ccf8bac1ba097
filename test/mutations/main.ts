/**
 * npm run test:mutations                              each mutation in turn, played by the tests that must notice it
 * npm run test:mutations -- --only "a success"        mutations whose name starts with this text
 * Builds a copy of the project for each mutation. Fails on a survivor: its tests pass without the promise.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { playAll, withMutatedCopy } from "./mutated-copy.ts";
import { MUTATIONS } from "./mutations.ts";

const { values } = parseArgs({ options: { only: { type: "string", default: "" } } });

playAll(MUTATIONS, values.only, (mutation) =>
  withMutatedCopy(mutation, (directory) => {
    const run = (program: string, args: readonly string[]) =>
      spawnSync(program, args, { cwd: directory, encoding: "utf8", maxBuffer: 1 << 28 });
    const built = run("npm", ["run", "--silent", "build"]);
    if (built.status !== 0) return { noticed: false, detail: `does not compile: ${built.stdout.slice(0, 200)}` };
    const { status, stdout } = run("npx", ["vitest", "run", ...mutation.tests, "--reporter", "json"]);
    const failed = status === 0 ? null : /"fullName":"([^"]*)","status":"failed"/.exec(stdout)?.[1];
    return { noticed: failed !== null && failed !== undefined, detail: failed ?? mutation.tests.join(", ") };
  }),
);
