import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { listen } from "../support/listen.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const END = "# end of the step";

/** The commands of each step, and the lines that appear in this order; `…` is any text. */
function readSteps(document: string) {
  const blocks = document.matchAll(/^```sh\n([\s\S]*?)^```$(?:\n\n```text\n([\s\S]*?)^```$)?/gm);
  return [...blocks].map(([, commands = "", output = ""]) => ({
    commands,
    output: output.split("\n").filter((line) => line !== ""),
  }));
}

const toPattern = (line: string) =>
  new RegExp(`^${line.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&").replaceAll("…", ".*")}$`);

/** The lines that the output lacks, or has in another order. */
function missingLines(output: string, expected: readonly string[]): string[] {
  const lines = output.split(/\r?\n/);
  return expected.filter((line) => {
    const at = lines.findIndex((found) => toPattern(line).test(found));
    lines.splice(0, at + 1);
    return at === -1;
  });
}

test("the commands of the tutorial succeed one after another, with the output that it shows", async () => {
  const server = createServer();
  const port = await listen(server);
  await new Promise((done) => server.close(done));
  const steps = readSteps(readFileSync("docs/tutorial.md", "utf8").replaceAll("8080", String(port)));
  expect(steps.length).toBeGreaterThan(5);
  const script = [
    "set -e",
    "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT",
    ...steps.map(({ commands }) => `${commands}echo '${END}'`),
  ].join("\n");
  const bin = temporaryDirectory();
  writeFileSync(join(bin, "simcat"), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`, { mode: 0o755 });
  const cwd = temporaryDirectory();
  const options = { cwd, patienceMs: 110_000 };
  const running = startProgram("bash", ["-c", script], { PATH: `${bin}:${process.env.PATH}` }, options);
  const { code, stdout, stderr } = await running.ended;
  expect(code, stdout + stderr).toBe(0);

  const outputs = stdout.split(`${END}\n`);
  expect(steps.map(({ output }, at) => missingLines(outputs[at] ?? "", output))).toEqual(steps.map(() => []));
  expect(readdirSync(cwd)).toEqual([]);
});
