/**
 * npm run simulate:weakened -- --seeds 200                 each weakening in turn, until a seed fails
 * npm run simulate:weakened -- --only "an equal text"      weakenings whose name starts with this text
 * A weakening that no seed detects is a gap in the simulation, not in the program. Works on copies; fails on a survivor.
 */
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { playAll, withMutatedCopy } from "../mutations/mutated-copy.ts";
import { WEAKENINGS } from "./weakenings.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const SIMULATION = ["--import", "tsx", "test/simulation/main.ts", "--bail"];

playAll(WEAKENINGS, values.only, (weakening) =>
  withMutatedCopy(weakening, (directory) => {
    const args = [...SIMULATION, "--seeds", values.seeds, "--from", values.from];
    const { stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8", maxBuffer: 1 << 28 });
    const wrong = /^ {2}WRONG (.*)$/m.exec(stdout)?.[1] ?? "";
    const summary = /^\d+ seeds/m.exec(stdout)?.[0] ?? "broke off";
    return { noticed: wrong !== "", detail: `${summary}${wrong === "" ? "" : `: ${wrong.slice(0, 120)}`}` };
  }),
);
