/**
 * npm run simulate:weakened -- --seeds 200                 each weakening in turn, until a seed fails
 * npm run simulate:weakened -- --only "an equal text"      weakenings whose name starts with this text
 * A weakening that no seed detects is a gap in the simulation, not in the program. Works on copies; fails on a survivor.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { WEAKENINGS, type Weakening } from "./weakenings.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "200" },
    from: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COPIED = ["src", "test", "migrations", "package.json", "tsconfig.json"];

/** Returns whether the line existed exactly once. */
function weaken(directory: string, { file, line, instead }: Weakening): boolean {
  const path = join(directory, file);
  const parts = readFileSync(path, "utf8").split(line);
  writeFileSync(path, parts.join(instead));
  return parts.length === 2;
}

/** The end of the output of the simulation of the weakened program. */
function simulate(weakening: Weakening): { readonly noticed: boolean; readonly said: string } {
  const directory = mkdtempSync(join(tmpdir(), "simcat-weakened-"));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
    if (!weaken(directory, weakening)) return { noticed: false, said: `${weakening.file} has other words now` };
    const args = [
      "--import",
      "tsx",
      "test/simulation/main.ts",
      "--bail",
      "--seeds",
      values.seeds,
      "--from",
      values.from,
    ];
    const { stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: "utf8", maxBuffer: 1 << 28 });
    const wrong = /^ {2}WRONG (.*)$/m.exec(stdout)?.[1] ?? "";
    const summary = /^\d+ seeds/m.exec(stdout)?.[0] ?? "broke off";
    return { noticed: wrong !== "", said: `${summary}${wrong === "" ? "" : `: ${wrong.slice(0, 120)}`}` };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

let survivors = 0;
for (const weakening of WEAKENINGS.filter(({ name }) => name.startsWith(values.only))) {
  const { noticed, said } = simulate(weakening);
  if (!noticed) survivors += 1;
  process.stdout.write(`${noticed ? "noticed " : "SURVIVED"} ${weakening.name} (${said})\n`);
}
process.exit(survivors > 0 ? 1 : 0);
