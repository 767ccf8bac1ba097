import { describe, expect, test } from "vitest";
import { serve } from "../mock/service.ts";
import { freshTestDatabase } from "../support/database.ts";
import { library } from "../support/organization.ts";
import { simcat } from "../verify/simcat.ts";

describe("sync --dry-run", () => {
  const some = (count: number) => Array.from({ length: count }, (_, at) => library("o", `l${at}`));

  test("lists twenty libraries with one reason, and the total of more unless --verbose is given (fault 169)", async () => {
    const few = { database: await freshTestDatabase(), service: await serve(some(20)) };
    const { code, out: listed } = await simcat(few, ["sync", "--dry-run"]);
    expect(code).toBe(0);
    expect(listed.match(/^ {2}read {4}o\/l\d+ {2}\(never read; insert\)$/gm)).toHaveLength(20);
    expect(listed).not.toContain("--verbose");

    const sides = { database: await freshTestDatabase(), service: await serve(some(1_021)) };
    const { out } = await simcat(sides, ["sync", "--dry-run"]);
    expect(out.split("\n")).toEqual([
      "dry run: 1,021 libraries listed; nothing was written",
      "  read    1,021 libraries  (never read; insert)",
      "  simcat sync --dry-run --verbose lists each of them",
      "a run would send 2,042 requests for content, and the requests for the listing",
    ]);
    const verbose = await simcat(sides, ["sync", "--dry-run", "--verbose"]);
    expect(verbose.out.match(/^ {2}read {4}o\/l\d+ {2}\(never read; insert\)$/gm)).toHaveLength(1_021);
  });
});
