import { expect, test } from "vitest";
import { type CheckLine, checkExitCode, formatChecks } from "../../src/output/check-lines.ts";

const OK: CheckLine = { check: "schema", result: "ok", text: "up to date", hint: null, details: [], exitCode: null };
const KEY: CheckLine = { ...OK, check: "key", result: "fail", text: "refused", hint: "check it", exitCode: 77 };
const CLOCK: CheckLine = {
  ...OK,
  check: "clock",
  result: "warn",
  text: "is wrong",
  hint: "set it",
  details: ["by far"],
};
const SKIPPED: CheckLine = { ...OK, check: "privileges", result: "skipped", text: "the schema comes first" };

test("each check is a line with its hint, and the last line counts", () => {
  expect(formatChecks([OK, KEY, CLOCK, SKIPPED]).split("\n")).toEqual([
    "ok    schema      up to date",
    "FAIL  key         refused; hint: check it",
    "warn  clock       is wrong; hint: set it",
    "                  by far",
    "skip  privileges  the schema comes first",
    "",
    "1 check failed, 1 warning",
  ]);
});

test("the last line says that the configuration is ready to run", () => {
  expect(formatChecks([OK]).split("\n").at(-1)).toBe("ready to run");
  expect(formatChecks([OK, CLOCK]).split("\n").at(-1)).toBe("ready to run, 1 warning");
});

test("text from a response cannot act on the terminal (fault 107)", () => {
  expect(formatChecks([{ ...OK, text: "a\nFAIL b\u001b[2J" }]).split("\n")[0]).toBe(
    "ok    schema  a\\u000aFAIL b\\u001b[2J",
  );
});

test("the exit code is that of the first failed check, also after warnings", () => {
  expect(checkExitCode([OK, CLOCK, SKIPPED])).toBe(0);
  expect(checkExitCode([CLOCK, KEY, { ...KEY, exitCode: 69 }])).toBe(77);
});
