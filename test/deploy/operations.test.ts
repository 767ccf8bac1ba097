/** docs/operations.md says of every ending and of every log line what to do. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { EXIT } from "../../src/errors.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(root + path, "utf8");
const manual = read("docs/operations.md");

/** Everything that matches in a source file, or in the files of a folder; without repetition. */
function found(pattern: RegExp, path: string): string[] {
  const files = path.endsWith(".ts") ? [path] : readdirSync(root + path).filter((name) => name.endsWith(".ts"));
  const texts = files.map((name) => read(name === path ? path : `${path}/${name}`));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, code = ""]) => code)))].sort();
}

const unexplained = (codes: readonly string[]) => codes.filter((code) => !manual.includes(`\`${code}\``));

test("every exit code has a section", () => {
  const headings = [...manual.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading).join("\n");
  expect(Object.values(EXIT).filter((code) => !new RegExp(`\\b${code}\\b`).test(headings))).toEqual([]);
});

test("every code of a run's log lines is explained", () => {
  const codes = [
    ...["src/output", "src/worker", "src/cli"].flatMap((folder) => found(/log\.\w+\(\s*\{ code: "(\w+)"/g, folder)),
    ...["src/output/run-log.ts", "src/sync/warnings.ts"].flatMap((file) => found(/\bcode: "(\w+)"/g, file)),
    ...found(/\bwarn\(\s*"(\w+)"/g, "src/sync/warnings.ts"),
    ...found(/notify\([^)]*"(?:info|warn)", "(\w+)"/g, "src/cli"),
  ];
  expect(codes.length).toBeGreaterThan(15);
  // The code of the log level that an operator enables to investigate a fault.
  expect([...new Set(unexplained(codes))]).toEqual(["request"]);
});

test("every way in which a library can fail, and every ending, is explained", () => {
  const failures = found(/^ {2}(\w+): "(?:unavailable|unread|read)"/gm, "src/errors.ts");
  const endings = found(/readonly code = "(\w+)"/g, "src/errors.ts");
  expect([failures.length > 10, endings.length > 8]).toEqual([true, true]);
  expect(unexplained([...failures, ...endings])).toEqual([]);
});

test("every reason of /readyz is explained", () => {
  expect(unexplained(found(/\bcode: "(\w+)"/g, "src/worker/worker-status.ts"))).toEqual([]);
});
