import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";

test("sync --dry-run lists twenty libraries with one reason, and more only with --verbose (fault 169)", async () => {
  const eachRead = /^ {2}read {4}alice\/Lib \d+ {2}\(never read; insert\)$/gm;
  const few = await fixture(numbered(20));
  const { code, stdout } = await few.call(["sync", "--dry-run"]);
  expect(code).toBe(0);
  expect(stdout.match(eachRead)).toHaveLength(20);
  expect(stdout).not.toContain("--verbose");

  const many = await fixture(numbered(1_021));
  expect((await many.call(["sync", "--dry-run"])).stdout.trimEnd().split("\n")).toEqual([
    "dry run: 1,021 libraries listed; nothing was written",
    "  read    1,021 libraries  (never read; insert)",
    "  simcat sync --dry-run --verbose lists each of them",
    "a run would send 2,042 requests for content, and the requests for the listing",
  ]);
  expect((await many.call(["sync", "--dry-run", "--verbose"])).stdout.match(eachRead)).toHaveLength(1_021);
});
