import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createChartRenderer } from "../../src/report/charts/chart-renderer.ts";
import { formatReport } from "../../src/report/report-page/report-page.ts";
import { emptyRows, hugeRows, oneRows } from "./report-rows.ts";

const draw = await createChartRenderer();
const format = (rows: typeof emptyRows) => formatReport(rows, "9.9.9", draw);

describe("the report", () => {
  test("of an empty database has the first commands to run, and no chart", () => {
    const { page, findings } = format(emptyRows);
    expect(findings).toEqual({ attention: "1 problem needs attention", activity: "No libraries yet" });
    expect(page).toContain("No run yet");
    expect(page).not.toContain("<figure");
  });

  test("uses the singular for a single library", () => {
    expect(format(oneRows).findings).toEqual({
      attention: "Nothing needs attention",
      changes: "Nothing changed in the last 7 days",
      activity: "The only library was modified in the last 30 days",
      age: "The only library was last modified 3 days ago",
      storage: "ann holds all 512 B",
      versions: "The only library uses the newest version of its package in use",
      parents: "The only parent has no results",
      runs: "The only run of the last 7 days succeeded",
    });
  });

  test("has a text for a single run, an unmodified library and a parent with results", () => {
    const { page, findings } = format({
      ...oneRows,
      libraries: { ...oneRows.libraries, touched: 0 },
      parents: [{ owner: "ann", owners: 1, scenarios: 2, parents: 1, withoutResults: 0 }],
    });
    expect(findings.activity).toBe("The only library was not modified in the last 30 days");
    expect(findings.parents).toBe("The only parent has results");
    expect(page).toContain("The only run so far took 0.4 s.");
  });

  test.each([
    [0, 0, "Half of the libraries were modified within the last day; all within a year"],
    [0, 1, "Half of the libraries were modified within the last day; 1 has not been modified for a year"],
    [0, 2, "Half of the libraries were modified within the last day; 2 have not been modified for a year"],
    [1, 0, "Half of the libraries have not been modified for 1 day or longer, none for a year"],
    [1, 2, "Half of the libraries have not been modified for 1 day or longer, 2 for a year or longer"],
  ])("with half of the libraries %i days old and %i stale, says so", (medianDays, stale, finding) => {
    const libraries = { ...oneRows.libraries, libraries: 9, medianDays, stale };
    expect(format({ ...oneRows, libraries }).findings.age).toBe(finding);
  });

  test.each([
    [0, "no run has read the whole listing since; see simcat status"],
    [1, "1 library is behind; see simcat status"],
  ])("says why a copy is old when %i libraries are behind", (librariesBehind, todo) => {
    const complete = { ...oneRows.complete, completeAsOf: new Date("2026-11-18T14:03:20Z"), librariesBehind };
    const { page } = format({ ...oneRows, complete });
    expect(page).toContain("The copy is complete only as of 2 d ago");
    expect(page).toContain(todo);
  });

  test("has a finding of a large organization in each heading", () => {
    expect(format(hugeRows).findings).toEqual({
      attention: "7 problems need attention",
      changes: "4,321 libraries changed in the last 7 days; scenarios: 18,000 added, 5,600 changed, 2,080 removed",
      activity: "1,207 of 10,000 libraries were modified in the last 30 days",
      age: "Half of the libraries have not been modified for 341 days or longer, 4,810 for a year or longer",
      storage: "Lib holds 22 % of the 18.0 TiB of 1,234 owners",
      versions: "9,581 of 14,703 libraries do not use the newest version of their package in use",
      parents: "63,000 of 182,000 parents (35 %) have no results",
      runs: "22 of 672 runs in the last 7 days did not succeed",
    });
  });

  test.each([
    ["empty", emptyRows],
    ["one", oneRows],
    ["huge", hugeRows],
  ] as const)("has in its %s page nothing that is loaded, run, or styled in place, and no id twice", (_, rows) => {
    const { page } = format(rows);
    expect(page).not.toMatch(/<(?:script|img|link|iframe|object|image|use|foreignObject|a)\b/i);
    expect(page).not.toMatch(/<[^>]*\s(?:style|on\w+|href|src)=/i);
    expect(page.match(/<style>/g)).toHaveLength(1);
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(page).not.toMatch(/undefined|NaN|\[object/);
  });

  test("is no larger for a large organization than a mail can carry", () => {
    expect(Buffer.byteLength(format(hugeRows).page)).toBeLessThan(300_000);
  });

  test("names its policy by the hash of the sheet that it carries", () => {
    const { page } = format(oneRows);
    const [, sheet = ""] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash("sha256").update(sheet).digest("base64");
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
    expect(page).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy.replaceAll("'", "&#39;")}">`);
  });

  test.each([
    ["hour", 1, "2026-11-20T14:00:00Z", "11-20 14:00"],
    ["day", 7, "2026-11-14T00:00:00Z", "11-14"],
    ["week", 100, "2026-11-16T00:00:00Z", "2026-11-16"],
    ["month", 900, "2024-08-01T00:00:00Z", "2024-08"],
  ] as const)("draws what changed by the %s", (step, days, at, name) => {
    const since = new Date(oneRows.now.getTime() - days * 86_400_000);
    const changes = [{ at: new Date(at), what: "scenario", kind: "added", count: 5 }] as const;
    expect(format({ ...oneRows, step, since, changes: [...changes] }).page).toContain(
      `<title>${name}: 5 libraries and scenarios, added or restored</title>`,
    );
  });

  test("names the owners that it is filtered to", () => {
    const { page } = format({ ...oneRows, owners: ["ann", "<b>bob"] });
    expect(page).toContain("Filtered to owners <bdi>ann</bdi>, <bdi>&lt;b&gt;bob</bdi> (runs are not filtered).");
  });
});
