import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { changeLibrary } from "../../src/mock/edit-library.ts";
import { fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "simcat-report-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const HOSTILE = "<img src=x onerror=alert(1)>";
const SMALL = [
  library("ann", HOSTILE, { scenarios: [1, scenario(2, { parentId: 1 }), 3], fileSize: "3 MB" }),
  library("ann", "Water", { packageVersion: "4.2.0", fileSize: "1 MB" }),
  library("bob", "Fire", { scenarios: [1], fileSize: "huge" }),
];

describe("simcat report", () => {
  test("writes a page of a small organization, and prints its path, size and findings", async () => {
    const { simcat, database } = await fixture(SMALL);
    await simcat(["backfill"]);
    const out = join(folder(), "page.html");
    writeFileSync(out, "the page of yesterday");

    // Only the settings of the database.
    const { code, stdout, stderr } = await simcat(["report", "--out", out], {
      SIMCAT_BASE_URL: "",
      SIMCAT_API_KEY: "",
    });

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const page = readFileSync(out, "utf8");
    const [first, ...findings] = stdout.trimEnd().split("\n");
    expect(first).toBe(`report: ${out} (${(Buffer.byteLength(page) / 1024).toFixed(1)} KiB)`);
    expect(findings.filter((line) => !line.includes("have not been modified"))).toEqual([
      "  1 problem needs attention",
      "  Nothing changed in the last 7 days",
      "  0 of 3 libraries were modified in the last 30 days",
      "  ann holds 100 % of the 4.0 MiB of 2 owners",
      "  1 of 3 libraries does not use the newest version of their package in use",
      "  2 of 3 parents (67 %) have no results",
      "  The only run of the last 7 days succeeded",
    ]);
    expect(page.match(/<h2>/g)).toHaveLength(8);
    expect(page).toContain("1 size is in a format that simcat does not know");
    expect(page).toContain("Not counted: 3 libraries and 4 scenarios of the initial load (up to run 1)");
    expect(page).not.toContain("<img");
    expect(readdirSync(join(out, ".."))).toEqual(["page.html"]);
    expect(page).not.toContain(new URL(database.url).password || "no password");
  });

  test("reports changes since the initial load, of one owner, and as JSON", async () => {
    const { simcat, service } = await fixture(SMALL);
    await simcat(["backfill"]);
    service.edit((organization) =>
      changeLibrary(organization, "ann", "Water", { description: "new", lastModified: "2026-11-20 at 9:00 AM" }),
    );
    await simcat(["sync"]);
    const out = join(folder(), "page.html");

    const { code, stdout } = await simcat(["report", "--json", "--owner", "ann", "--since", "36h", "--out", out]);

    expect(code).toBe(0);
    const told = JSON.parse(stdout);
    expect(told).toMatchObject({ file: out, bytes: readFileSync(out).length, owners: ["ann"] });
    expect(told.findings).toMatchObject({
      changes: "1 library changed in the last 36 hours; no scenarios",
      storage: "ann holds all 4.0 MiB",
      parents: "1 of 2 parents (50 %) has no results",
      runs: "Both runs of the last 36 hours succeeded",
    });
    expect(readFileSync(out, "utf8")).toContain("Filtered to owner <bdi>ann</bdi> (runs are not filtered).");
  });

  test("accepts an empty database and an unknown owner", async () => {
    const { simcat } = await fixture([]);
    const out = join(folder(), "page.html");
    const { code, stdout } = await simcat(["report", "--out", out, "--owner", "nobody"]);
    expect({ code, lines: stdout.trimEnd().split("\n").slice(1) }).toEqual({
      code: 0,
      lines: ["  1 problem needs attention", "  No libraries yet"],
    });
  });

  test("reports invalid options and a path that it cannot write", async () => {
    const { simcat } = await fixture([]);
    const since = await simcat(["report", "--since", "a week"]);
    expect(since.code).toBe(64);
    expect(since.stderr).toContain('--since \\"a week\\" is not a duration; write it as 7d, 36h or 90m');
    const nowhere = join(folder(), "no such folder", "page.html");
    const out = await simcat(["report", "--out", nowhere]);
    expect(out.code).toBe(64);
    expect(out.stderr).toContain(`the report cannot be written to ${nowhere}: ENOENT`);
  });
});
