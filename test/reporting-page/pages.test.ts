import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { formatReport, type ReportRows } from "../../src/report/report-page/report-page.ts";
import { emptyRows, failingRows, hugeRows, oneRows } from "./report-rows.ts";

const format = (rows: ReportRows, serviceHost: string | null = "api.example.com") =>
  formatReport(rows, "9.9.9", serviceHost);
const headingOf = (page: string) => /<h1>(.*?)<\/h1>/.exec(page)?.[1];
const sectionOf = (page: string, id: string) =>
  new RegExp(`<section id="${id}"[^>]*>(.*?)</section>`, "s").exec(page)?.[1] ?? "";
const titleOf = (page: string) => /<title>(.*?)<\/title>/.exec(page)?.[1];

describe("the report", () => {
  test("of an empty database has the first commands to run, and no chart", () => {
    const { page, findings } = format(emptyRows);
    expect(findings).toEqual({ attention: "1 problem needs attention", activity: "Nothing has been read yet" });
    expect(page).toContain("No run yet");
    expect(page).toContain("run simcat check, then simcat backfill");
    expect(page).not.toContain("<figure");
  });

  test("names the service and the database, and its own date, in heading and title", () => {
    expect(headingOf(format(oneRows).page)).toBe("Organization at api.example.com, database <bdi>simcat</bdi>");
    expect(titleOf(format(oneRows).page)).toBe(
      "Organization at api.example.com, database simcat: simcat report of 20 Nov 2026",
    );
    expect(headingOf(format(oneRows, null).page)).toBe("Organization, database <bdi>simcat</bdi>");
  });

  test("has times that are still right when the file is read a week later (fault 133)", () => {
    const { page } = format(hugeRows);
    expect(page).toContain(">17 Nov 2026, 14:03</time><small>3 d before this report</small>");
    expect(page.replaceAll("before this report", "")).not.toMatch(/\d (?:min|h|d|s) ago|just now/);
  });

  test("of an organization without libraries says so only if a run has seen all of it", () => {
    const { complete, runs } = oneRows;
    expect(format({ ...emptyRows, runs, complete }).findings.activity).toBe("The organization has no libraries");
    expect(format({ ...emptyRows, runs }).findings.activity).toBe("No library is stored yet");
    expect(format({ ...emptyRows, runs, complete, owners: ["nobody"] }).findings.activity).toBe(
      "No library of this owner is stored",
    );
  });

  test("of an organization whose libraries all fail names them, with their whole errors (fault 132)", () => {
    const { page, findings } = format(failingRows);
    expect(findings.activity).toBe("No library is stored: 5 listed libraries fail");
    expect(findings.attention).toBe("3 problems need attention");
    expect(page).toContain("Some listed libraries are not stored yet");
    expect(page).toContain("simcat explain &#39;ann/Fire 1&#39;");
    expect(page).toContain("; rename it in the service</bdi>");
  });

  test("uses the singular for a single library, and prints a single day as numbers", () => {
    const { page, findings } = format(oneRows);
    expect(findings).toEqual({
      attention: "Nothing needs attention",
      changes: "Nothing changed since 20 Nov 2026, 13:58",
      growth: "Growth is recorded since 20 Nov 2026",
      activity: "The only library is active: work in the last 30 days",
      age: "The last work in the only library was 3 days ago",
      storage: "ann holds all 512 B",
      versions: "The only library uses the newest version of its package in use",
      parents: "The only parent has no results",
      runs: "The only run of the last 7 days succeeded",
    });
    expect(page).toContain("The first snapshot: 1 library, 1 parent, 0 results, 512 B.");
    expect(page).toContain("1 parent, 0 results</small>");
    // The finding says all about a single owner and a single run.
    expect([...page.matchAll(/<svg class="chart"/g)]).toHaveLength(1);
  });

  test("lists a single run that failed", () => {
    const runs = oneRows.runs.map((run) => ({ ...run, status: "failed" as const }));
    expect(format({ ...oneRows, runs }).page).toContain("<h3>The run that did not end with ok (UTC)</h3>");
  });

  test("has a text for a library without recent work and a parent with results", () => {
    const libraries = { ...oneRows.libraries, active: 0, stale: 1, medianDays: 200 };
    const parents = [{ owner: "ann", owners: 1, scenarios: 2, parents: 1, withoutResults: 0, stale: 0 }];
    const { findings } = format({ ...oneRows, libraries, parents, active: [] });
    expect(findings.activity).toBe("The only library is not active: no work in the last 30 days");
    expect(findings.parents).toBe("The only parent has results");
  });

  test.each([
    [0, 0, "Half of the libraries had work within the last day; none is stale: over 90 days"],
    [0, 1, "Half of the libraries had work within the last day; 1 (11 %) is stale: over 90 days"],
    [1, 0, "Half of the libraries have had no work for 1 day or longer; none is stale: over 90 days"],
    [95, 5, "Half of the libraries have had no work for 95 days or longer; 5 (56 %) are stale: over 90 days"],
  ])("with half of the libraries %i days old and %i stale, says so", (medianDays, stale, finding) => {
    const libraries = { ...oneRows.libraries, libraries: 9, medianDays, stale };
    expect(format({ ...oneRows, libraries }).findings.age).toBe(finding);
  });

  test("draws the active libraries that its heading counts, each on the day of its last work (fault 134)", () => {
    const active = [
      { at: new Date("2026-10-21T00:00:00Z"), count: 2 },
      { at: new Date("2026-11-20T00:00:00Z"), count: 1 },
    ];
    const { page, findings } = format({
      ...oneRows,
      active,
      libraries: { ...oneRows.libraries, libraries: 4, active: 3, stale: 1 },
    });
    expect(findings.activity).toBe("3 of 4 libraries are active: work in the last 30 days");
    const section = sectionOf(page, "activity");
    expect([...section.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)).toEqual([
      "21 Oct 2026: 2 libraries, last work",
      "20 Nov 2026: 1 library, last work",
    ]);
    expect(section.match(/class="shade"/g)).toHaveLength(2);
  });

  test("marks on the curve of ages the shares of work within 30, 90 and 365 days", () => {
    const ages = [
      { days: 0, libraries: 2 },
      { days: 29, libraries: 1 },
      { days: 30, libraries: 1 },
      { days: 400, libraries: 4 },
    ];
    const libraries = { ...oneRows.libraries, libraries: 8, active: 3, quiet: 1, stale: 4, medianDays: 30 };
    const { page } = format({ ...oneRows, ages, libraries });
    const [, marks = ""] = /<g class="marks">(.*?)<\/g>/s.exec(page) ?? [];
    expect([...marks.matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text)).toEqual(["38 %", "50 %", "50 %"]);
  });

  test("has bars of named owners only, and a line of text for all others", () => {
    const storage = [
      { owner: "ann", owners: 1, libraries: 3, bytes: 3 * 2 ** 30 },
      { owner: null, owners: 99, libraries: 500, bytes: 97 * 2 ** 30 },
    ];
    const { page } = format({
      ...oneRows,
      storage,
      libraries: { ...oneRows.libraries, owners: 100, bytes: 100 * 2 ** 30 },
    });
    const section = sectionOf(page, "storage");
    expect(section.match(/<rect/g)).toHaveLength(1);
    expect(section).toContain("Not drawn: 99 other owners with 97.0 GB (97 %).");
    expect(section).toContain("<h2>ann holds 3\u00a0% of the 100.0 GB of 100 owners</h2>");
    expect(page).toContain("1 KB is 1,024 bytes");
  });

  test("says when growth will be recorded if there is no snapshot yet", () => {
    expect(format({ ...oneRows, growth: [] }).findings.growth).toBe("Growth is recorded from the next good run on");
    expect(format(emptyRows).findings).not.toHaveProperty("growth");
  });

  test.each([
    [31, 31, "21 Oct 2026"],
    [32, 17, "20 Oct 2026"],
    [731, 32, "20 Nov 2024"],
  ])("lists %i days of growth in %i rows, with the first and the last day", (days, rows, first) => {
    const end = Date.UTC(2026, 10, 20);
    const growth = Array.from({ length: days }, (_, at) => {
      const day = new Date(end - (days - 1 - at) * 86_400_000);
      return { day, libraries: at, parents: 1, results: 0, bytes: 512 };
    });
    const section = sectionOf(format({ ...oneRows, growth }).page, "growth");
    const listed = [...section.matchAll(/<tr><td data-title="day \(UTC\)"><span>(.*?)<\/span>/g)].map(([, day]) => day);
    expect([listed.length, listed[0], listed.at(-1)]).toEqual([rows, first, "20 Nov 2026"]);
    expect(section.includes("of the others, and the last one.")).toBe(days > 31);
  });

  test("draws growth once there are two days of snapshots", () => {
    const growth = [
      { day: new Date("2026-11-19T00:00:00Z"), libraries: 1, parents: 4, results: 2, bytes: 1024 },
      { day: new Date("2026-11-20T00:00:00Z"), libraries: 2, parents: 4, results: 1, bytes: 2048 },
    ];
    const { page, findings } = format({ ...oneRows, growth });
    expect(findings.growth).toBe("1 more library and 1 fewer scenario since 19 Nov 2026");
    const section = sectionOf(page, "growth");
    expect([...section.matchAll(/aria-label="(.*?)"/g)].map(([, label]) => label)).toEqual([
      "libraries by day, from 19 Nov 2026: now 2",
      "stored by day, from 19 Nov 2026: now 2.0 KB",
      "parents by day, from 19 Nov 2026: now 4",
      "results by day, from 19 Nov 2026: now 1",
    ]);
  });

  test("does not count changes from before the history is complete", () => {
    const changesSince = new Date("2026-11-18T06:00:00Z");
    const { page, findings } = format({ ...hugeRows, changesSince });
    expect(findings.changes).toMatch(/^4,321 libraries changed since 18 Nov 2026, 06:00; scenarios: /);
    expect(page).toContain(">18 Nov 2026, 06:00</time>; earlier changes");
    const none = format({ ...hugeRows, changes: [], complete: { ...hugeRows.complete, historyCompleteSince: null } });
    expect(none.findings.changes).toBe("Changes are counted after the first run that sees everything");
  });

  test.each([
    [0, "no run has read the whole listing since, or a cache answered; see simcat status"],
    [1, "1 library is behind; see simcat status"],
  ])("says why a copy is old when %i libraries are behind", (librariesBehind, todo) => {
    const complete = { ...oneRows.complete, completeAsOf: new Date("2026-11-18T14:03:20Z"), librariesBehind };
    const { page } = format({ ...oneRows, complete });
    expect(page).toContain("The copy is complete only as of 18 Nov 2026, 14:03 UTC");
    expect(page).toContain(todo);
  });

  test("does not call a copy old whose dates may only have to settle, for up to 26 hours (fault 183)", () => {
    const findingAt = (completeAsOf: string) =>
      format({ ...oneRows, complete: { ...oneRows.complete, completeAsOf: new Date(completeAsOf) } }).findings
        .attention;
    expect(findingAt("2026-11-19T12:03:20Z")).toBe("Nothing needs attention");
    expect(findingAt("2026-11-19T12:03:19Z")).toBe("1 problem needs attention");
  });

  test("has the whole remedy of the last run", () => {
    const runs = oneRows.runs.map((run) => ({ ...run, status: "held" as const }));
    expect(format({ ...oneRows, runs }).page).toContain(
      "simcat sync --dry-run shows the held removals; if they are right, run simcat sync --allow-removals",
    );
  });

  test("has a finding of a large organization in each heading", () => {
    expect(format(hugeRows).findings).toEqual({
      attention: "7 problems need attention",
      changes: "4,321 libraries changed in the last 7 days; scenarios: 18,000 added, 5,600 changed, 2,080 removed",
      growth: "1,990 more libraries and 3,980 fewer scenarios since 5 May 2026",
      activity: "1,207 of 10,000 libraries are active: work in the last 30 days",
      age: "Half of the libraries of known date have had no work for 341 days or longer; 7,672 (77 %) are stale: over 90 days",
      storage: "Lib holds 22 % of the 18.0 TB of 1,234 owners",
      versions: "9,581 of 14,703 libraries do not use the newest version of their package in use",
      parents: "63,000 of 182,000 parents (35 %) have no results",
      runs: "22 of 672 runs in the last 7 days did not end with ok",
    });
  });

  test.each([
    ["empty", emptyRows],
    ["one", oneRows],
    ["failing", failingRows],
    ["huge", hugeRows],
  ] as const)("has in its %s page nothing that is loaded, run, or styled in place, and no id twice", (_, rows) => {
    const { page } = format(rows);
    expect(page).not.toMatch(/<(?:script|img|link|iframe|object|image|use|foreignObject|a)\b/i);
    expect(page).not.toMatch(/<[^>]*\s(?:style|on\w+|href|src)=/i);
    expect(page.match(/<style>/g)).toHaveLength(1);
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(page).not.toMatch(/undefined|NaN|Infinity|\[object/);
  });

  test("has the numbers of each picture in a table", () => {
    const { page } = format(hugeRows);
    const sections = page.split("<section").filter((section) => section.includes('role="img"'));
    expect(sections).toHaveLength(8);
    for (const section of sections)
      expect(section).toMatch(/<details><summary>The numbers<\/summary>(<p class="soft">[^<]*<\/p>)?<table/);
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
    ["hour", 1, "2026-11-20T14:00:00Z", "20 Nov 2026, 14:00"],
    ["day", 7, "2026-11-14T00:00:00Z", "14 Nov 2026"],
    ["week", 100, "2026-11-16T00:00:00Z", "week of 16 Nov 2026"],
    ["month", 900, "2024-08-01T00:00:00Z", "August 2024"],
  ] as const)("draws what changed by the %s", (step, days, at, name) => {
    const since = new Date(oneRows.now.getTime() - days * 86_400_000);
    const changes = [{ at: new Date(at), entity: "scenario", kind: "added", count: 5 }] as const;
    expect(format({ ...oneRows, step, since, changesSince: since, changes: [...changes] }).page).toContain(
      `<title>${name}: 5 scenarios, added or returned</title>`,
    );
  });

  test("names the owners that it is filtered to", () => {
    const { page } = format({ ...oneRows, owners: ["ann", "<b>bob"] });
    expect(page).toContain("Filtered to owners <bdi>ann</bdi>, <bdi>&lt;b&gt;bob</bdi> (runs are not filtered).");
  });
});
