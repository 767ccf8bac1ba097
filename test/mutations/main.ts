/**
 * npm run test:mutations                               each mutation that names tests, of which one must fail
 * npm run simulate:weakened -- --seeds 200             each other mutation, until a seed of the simulation fails
 * npm run test:mutations -- --only "a success"         those whose name starts with this text
 * Works on copies of the project. Fails on a survivor: a gap in the tests or the simulation, not in the program.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { type Mutation, playAll, withMutatedCopy } from "./mutated-copy.ts";
import { MUTATIONS } from "./mutations.ts";

const { values } = parseArgs({
  options: {
    simulate: { type: "boolean", default: false },
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const SEEDS = ["tsx", "test/simulation/main.ts", "--bail", "--seeds", values.seeds, "--from", values.from];

function play({ tests }: Mutation, directory: string) {
  const run = (...command: readonly string[]) =>
    spawnSync("npx", command, { cwd: directory, encoding: "utf8", maxBuffer: 1 << 28 });
  if (values.simulate) {
    const { stdout } = run(...SEEDS);
    const wrong = /^ {2}WRONG (.{0,120})/m.exec(stdout)?.[1];
    return {
      noticed: wrong !== undefined,
      detail: `${/^\d+ seeds/m.exec(stdout)?.[0] ?? "broke off"}: ${wrong ?? ""}`,
    };
  }
  const built = spawnSync("npm", ["run", "--silent", "build"], { cwd: directory, encoding: "utf8" });
  if (built.status !== 0) return { noticed: false, detail: `does not compile: ${built.stdout.slice(0, 200)}` };
  const { status, stdout } = run("vitest", "run", ...tests, "--reporter", "json");
  const failed = status === 0 ? undefined : /"fullName":"([^"]*)","status":"failed"/.exec(stdout)?.[1];
  return { noticed: failed !== undefined, detail: failed ?? tests.join(", ") };
}

const played = MUTATIONS.filter(({ tests }) => (tests.length === 0) === values.simulate);
playAll(played, values.only, (mutation) => withMutatedCopy(mutation, (directory) => play(mutation, directory)));
