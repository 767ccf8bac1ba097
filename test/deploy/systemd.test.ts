import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EXIT } from "../../src/errors.ts";
import { findProgram } from "../support/programs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const UNITS = new URL("../../deploy/systemd/", import.meta.url);
const systemdAnalyze = findProgram("systemd-analyze", "systemd");

const valuesOf = (unit: string, name: string) =>
  [...readFileSync(new URL(unit, UNITS), "utf8").matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(
    ([, value]) => value,
  );

test.skipIf(systemdAnalyze === null)("systemd accepts every unit", () => {
  const directory = temporaryDirectory();
  const units = readdirSync(UNITS);
  expect(units).toEqual(["simcat-sync.service", "simcat-sync.timer", "simcat.service"]);
  for (const unit of units) {
    // The program must exist, and the files of the settings need not.
    const text = readFileSync(new URL(unit, UNITS), "utf8").replace("ExecStart=simcat", "ExecStart=true");
    writeFileSync(join(directory, unit), text);
  }
  const paths = units.map((unit) => join(directory, unit));
  const { status, stderr } = spawnSync(systemdAnalyze ?? "", ["verify", "--man=no", ...paths], { encoding: "utf8" });
  const about = stderr.split("\n").filter((line) => line.includes("simcat"));
  expect({ status, about }).toEqual({ status: 0, about: [] });
});

test("no restart follows a code that it does not change, and a run that stored the rest is no failure", () => {
  const { usage, source_untrusted, unauthorized, configuration } = EXIT;
  expect(valuesOf("simcat.service", "RestartPreventExitStatus")).toEqual([
    [usage, source_untrusted, unauthorized, configuration].join(" "),
  ]);
  expect(valuesOf("simcat.service", "SuccessExitStatus")).toEqual([`${EXIT.terminated}`]);
  expect(valuesOf("simcat-sync.service", "SuccessExitStatus")).toEqual([`${EXIT.partial}`]);
});
