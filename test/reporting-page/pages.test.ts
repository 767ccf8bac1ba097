import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { formatReport, type ReportRows } from "../../src/report/report-page/report-page.ts";
import type { RunStatus } from "../../src/run-summary.ts";
import { activeDays, changeDays, emptyRows, failingRows, hugeRows, oneRows, snapshot } from "./report-rows.ts";

const format = (rows: ReportRows, serviceHost: string | null = "api.example.com") =>
  formatReport(rows, "9.9.9", serviceHost);
/** The page of one library, with these rows instead of its own. */
const formatOne = (rows: Partial<ReportRows>) => format({ ...oneRows, ...rows });
const headingOf = (page: string) => /<h1>(.*?)<\/h1>/.exec(page)?.[1];
const sectionOf = (page: string, id: string) =>
  new RegExp(`<section id="${id}"[^>]*>(.*?)</section>`, "s").exec(page)?.[1] ?? "";
const titleOf = (page: string) => /<title>(.*?)<\/title>/.exec(page)?.[1];

/** A moment in UTC, such as 2026-11-20 or 2026-11-20T14:03:20. */
const utc = (text: string) => new Date(text.includes("T") ? `${text}Z` : text);
const counted = (counts: Partial<ReportRows["libraries"]>) => ({ libraries: { ...oneRows.libraries, ...counts } });
const completeAs = (rest: Partial<ReportRows["complete"]>) => ({ complete: { ...oneRows.complete, ...rest } });
const knownUntil = (until: string) => completeAs({ knownUntil: utc(until) });
const endedAs = (status: RunStatus) => ({ runs: oneRows.runs.map((run) => ({ ...run, status })) });
const grown = (day: string, libraries = 4, parents = 4, results = 2, bytes = 1024) =>
  snapshot({ day: utc(day), libraries, parents, results, bytes });

describe("the report", () => {
  test("names the service and the database, and its own date, in heading and title", () => {
    expect(headingOf(format(oneRows).page)).toBe("Organization at api.example.com, database <bdi>simcat</bdi>");
    expect(titleOf(format(oneRows).page)).toBe(
      "Organization at api.example.com, database simcat: simcat report of 20 Nov 2026",
    );
    expect(headingOf(format(oneRows, null).page)).toBe("Organization, database <bdi>simcat</bdi>");
    // With the names of months that the rest of the page has (fault 261).
    expect(formatOne({ now: new Date("2026-09-23T06:04:00Z") }).page).toContain(
      ">23 Sep 2026, 06:04</time> UTC; changes",
    );
  });

  test("has times that are still right when the file is read a week later (fault 133)", () => {
    const { page } = format(hugeRows);
    expect(page).toContain(">17 Nov 2026, 14:03</time><small>3 d before this report</small>");
    expect(page.replaceAll("before this report", "")).not.toMatch(/\d (?:min|h|d|s) ago|just now/);
  });

  test("of an organization whose libraries all fail names them, with their whole errors (fault 132)", () => {
    const { page, findings } = format(failingRows);
    expect(findings.activity).toBe("No library is stored: 5 listed libraries fail");
    expect(findings.attention).toBe("3 problems need attention");
    expect(page).toContain("Some listed libraries were never stored completely");
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
    // The finding says all about a single library, owner and run.
    expect(page).not.toContain('<svg class="chart"');
    for (const id of ["storage", "parents"]) expect(sectionOf(page, id)).not.toContain("<table");
  });

  const NEWER = "2026-11-18T14:03:20";

  test.each<[string, Partial<ReportRows>, string]>([
    [
      "a run of everything that a selected one followed (fault 261)",
      {
        runs: [
          ...endedAs("held").runs,
          ...oneRows.runs.map((run) => ({ ...run, scope: { libraries: [], owners: ["ann"] } })),
        ],
      },
      "The last run of all libraries ended as held</span>",
    ],
    ["a failed run, perhaps of many", endedAs("failed"), "<h3>The last run that did not end with ok (UTC)</h3>"],
    [
      "the whole remedy of the last run",
      endedAs("held"),
      "simcat sync --dry-run shows what is still held; if the removals are right, run simcat sync --allow-removals",
    ],
    ["the next step after a partial run (fault 370)", endedAs("partial"), "simcat status shows what the last runs did"],
    ["that no run saw everything (fault 391)", completeAs({ lastWholeRunId: null }), "No run has seen everything yet"],
    ["which command knows what to do then", completeAs({ lastWholeRunId: null }), "last runs did, and what to do next"],
    ["how old it is", completeAs({ completeAsOf: utc(NEWER) }), "complete only as of 18 Nov 2026, 14:03 UTC"],
    [
      "why it is old",
      completeAs({ completeAsOf: utc(NEWER) }),
      "no run has seen everything since, or a cache answered; see simcat status",
    ],
    [
      "that a library is behind",
      completeAs({ completeAsOf: utc(NEWER), librariesBehind: 1 }),
      "1 library is behind; simcat libraries shows which",
    ],
    [
      "the owners that it is filtered to",
      { owners: ["ann", "<b>bob"] },
      "Filtered to owners <bdi>ann</bdi>, <bdi>&lt;b&gt;bob</bdi> (the runs, and how complete the copy is, are those of all owners).",
    ],
  ])("shows %s", (_, rows, text) => {
    expect(formatOne(rows).page).toContain(text);
  });

  const { complete, runs, since } = oneRows;
  const known = (until: string) => ({ changesSince: since, ...knownUntil(until) });
  const old = (until: string) => completeAs({ completeAsOf: utc(until) });
  const aged = (medianDays: number, stale: number) => counted({ libraries: 9, medianDays, stale });
  const tied = (ties: number) => ({
    ...counted({ owners: 9, bytes: 1024 }),
    storage: [{ owner: "ann", owners: 1, libraries: 1, bytes: 246, ties }],
  });
  const LAST_HOURS = { since: utc("2026-11-20T08:03:20"), changesSince: utc("2026-11-20T08:03:20") };
  const OLD_VERSION = oneRows.versions.map((row) => ({ ...row, packageVersion: "4.3.5", versionsBehind: 1 }));
  const UNKNOWN = { packageName: null, packageVersion: null, newestVersion: null, versionsBehind: null };
  const RUNNING = { status: "running", runs: 1 } as const;
  const WITH_RESULTS = { owner: "ann", owners: 1, scenarios: 2, parents: 1, withoutResults: 0, stale: 0 };
  const UNTIL = "2026-11-15T14:03:20";
  const GROWN = [grown("2026-10-21"), grown("2026-11-15")];
  const CUT = GROWN.map((row, at) => ({ ...row, hasEvents: at === 1 }));

  test.each<[section: string, finding: string | undefined, rows: Partial<ReportRows>]>([
    ["activity", "The organization has no libraries", { ...emptyRows, runs, complete }],
    ["activity", "No library is stored yet", { ...emptyRows, runs }],
    ["activity", "No library of this owner is stored", { ...emptyRows, runs, complete, owners: ["nobody"] }],
    ["activity", "The only library is not active: no work in the last 30 days", counted({ active: 0, stale: 1 })],
    ["activity", undefined, counted({ active: 0, unknown: 1, medianDays: null })],
    ["parents", "The only parent has results", { parents: [WITH_RESULTS] }],
    ["parents", "Both parents have results", { parents: [WITH_RESULTS, WITH_RESULTS] }],
    ["age", "Half of the libraries had work within the last day; none is stale: over 90 days", aged(0, 0)],
    ["age", "Half of the libraries had work within the last day; 1 (11 %) is stale: over 90 days", aged(0, 1)],
    ["age", "Half of the libraries have had no work for 1 day or longer; none is stale: over 90 days", aged(1, 0)],
    [
      "age",
      "Half of the libraries have had no work for 95 days or longer; 5 (56 %) are stale: over 90 days",
      aged(95, 5),
    ],
    // The owner, or the first library, is newer than the snapshot of today (fault 360).
    ["growth", "Growth is not recorded yet: the first good run of each day (UTC) records it", { growth: [] }],
    ["growth", undefined, emptyRows],
    ["growth", "Growth is recorded since 21 Oct 2026", { growth: CUT }],
    [
      "growth",
      "1 more library since 21 Oct 2026 (complete until 15 Nov 2026), and as many scenarios",
      { ...counted({ libraries: 5, parents: 6, results: 0 }), ...known(UNTIL), growth: GROWN },
    ],
    ["changes", "Nothing changed in the last 7 days", known("2026-11-19T14:03:20")],
    [
      "changes",
      "Changes are counted after the first run that sees everything",
      { changes: [], ...completeAs({ historyCompleteSince: null }) },
    ],
    // Both ends of the period (fault 310).
    ["changes", "Nothing changed since 13 Nov 2026, 14:03 (complete until 19 Nov 2026)", known("2026-11-19T14:03:19")],
    [
      "changes",
      "Nothing is known since 13 Nov 2026, 14:03: the copy is complete until 31 Oct 2026",
      known("2026-10-31T14:03:20"),
    ],
    [
      "changes",
      "Nothing is known since 20 Nov 2026, 08:03: the copy is complete until 19 Nov 2026, 20:03",
      { ...known("2026-11-19T20:03:20"), ...LAST_HOURS },
    ],
    // Selected runs found them (fault 310).
    [
      "changes",
      "4,321 libraries changed since 13 Nov 2026, 14:03, although the copy is complete only until 31 Oct 2026; no scenarios",
      { ...known("2026-10-31T14:03:20"), changed: hugeRows.changed },
    ],
    [
      "changes",
      "Nothing changed since 20 Nov 2026, 08:03 (complete until 20 Nov 2026, 12:03)",
      { ...known("2026-11-20T12:03:20"), ...LAST_HOURS },
    ],
    ["changes", "Nothing changed in the last 6 hours", { ...known("2026-11-20T13:50:20"), ...LAST_HOURS }],
    [
      "changes",
      "1 library moved from ann to bob; 2 libraries moved between other owners; no other library changed in the last 7 days",
      { ...known("2026-11-20T13:50:20"), moves: [{ oldOwner: "ann", newOwner: "bob", libraries: 1, total: 3 }] },
    ],
    ["age", "The last work in the only library was 3 days ago, as far as known until 15 Nov 2026", known(UNTIL)],
    ["storage", "All known sizes are 0", counted({ bytes: 0 })],
    ["storage", "No library has a known size", counted({ bytes: 0, sizesUnread: 1 })],
    [
      "versions",
      "The only library of known version uses the newest version of its package in use",
      { versions: [...oneRows.versions, { ...UNKNOWN, libraries: 4 }] },
    ],
    [
      "versions",
      "1 of 3 libraries of known version does not use the newest version of its package in use",
      { versions: [...oneRows.versions, ...OLD_VERSION, ...oneRows.versions, { ...UNKNOWN, libraries: 4 }] },
    ],
    ["versions", "The only library does not use the newest version of its package in use", { versions: OLD_VERSION }],
    [
      "versions",
      "Both libraries use the newest version of their package in use",
      { versions: [...oneRows.versions, ...oneRows.versions] },
    ],
    ["storage", "ann holds 24 % of the 1.0 KB of 9 owners", tied(1)],
    ["storage", "ann and 1 other owner hold 24 % each of the 1.0 KB of 9 owners", tied(2)],
    ["storage", "ann and 3 other owners hold 24 % each of the 1.0 KB of 9 owners", tied(4)],
    [
      "runs",
      "All 29 runs of the last 7 days succeeded; 1 run has not ended",
      { endings: [{ status: "ok", runs: 29 }, RUNNING] },
    ],
    // A date without a time of day settles after up to 25 hours (fault 183).
    ["attention", "Nothing needs attention", old("2026-11-19T12:03:20")],
    ["attention", "1 problem needs attention", old("2026-11-19T12:03:19")],
  ])("has as heading of %s (fault 391): %s", (section, finding, rows) => {
    expect(formatOne(rows).findings[section]).toBe(finding);
  });

  test("draws the active libraries that its heading counts, each on the day of its last work (fault 134)", () => {
    const active = activeDays((ago) => ({ 30: 2, 0: 1 })[ago] ?? 0);
    const { page, findings } = formatOne({ active, ...counted({ libraries: 4, active: 3, stale: 1 }) });
    expect(findings.activity).toBe("3 of 4 libraries are active: work in the last 30 days");
    const section = sectionOf(page, "activity");
    expect([...section.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title)).toEqual([
      "21 Oct 2026: 2 libraries, last work",
      "20 Nov 2026: 1 library, last work",
    ]);
    // The part of the first day that is more than 30 days ago.
    expect(section.match(/class="shade"/g)).toHaveLength(1);
  });

  test("shades the days after the last run among the active libraries, and says until when they are known", () => {
    const active = activeDays((ago) => (ago === 6 ? 3 : 0));
    const { page, findings } = formatOne({ active, ...counted({ libraries: 4, active: 3 }), ...knownUntil(UNTIL) });
    expect(findings.activity).toBe(
      "3 of 4 libraries are active: work in the last 30 days, as far as known until 15 Nov 2026",
    );
    // 16 to 20 November, and the part of the first day.
    expect(sectionOf(page, "activity").match(/class="shade"/g)).toHaveLength(6);
    expect(sectionOf(page, "activity")).toMatch(
      /15 Nov 2026<\/span>.*<span>0<\/span><\/td><\/tr>\n.*16 Nov 2026<\/span><\/td><td[^>]*><\/td>/,
    );
  });

  test("has a bar for each time since the last work, with its share, and none for unknown dates", () => {
    const ages = [
      { age: 0, libraries: 3 },
      { age: 2, libraries: 1 },
      { age: 4, libraries: 3 },
      { age: 5, libraries: 1 },
    ];
    const { page } = formatOne({ ages, ...counted({ libraries: 8, active: 3, stale: 4, unknown: 1, medianDays: 95 }) });
    const rows = sectionOf(page, "age").split("<tr>").slice(2);
    expect(rows.map((row) => row.replace(/<[^>]*>/g, "").split("\n")[0])).toEqual([
      "within 30 days active3 38 %",
      "30 to 90 days ago quiet0 0 %",
      "90 days to 1 year ago stale1 13 %",
      "1 to 2 years ago stale0 0 %",
      "over 2 years ago stale3 38 %",
      "no date, or one in the future unknown1 13 %",
    ]);
    const widths = rows.map((row) => /<rect [^>]*width="([\d.]+%)"/.exec(row)?.[1]);
    expect(widths).toEqual(["100%", undefined, "33.3%", undefined, "100%", undefined]);
  });

  test("has bars of named owners only, and a row without one for all others", () => {
    const storage = [
      { owner: "ann", owners: 1, libraries: 3, bytes: 3 * 2 ** 30, ties: 1 },
      { owner: null, owners: 99, libraries: 500, bytes: 97 * 2 ** 30, ties: 1 },
    ];
    const { page } = formatOne({ storage, ...counted({ owners: 100, bytes: 100 * 2 ** 30 }) });
    const section = sectionOf(page, "storage");
    expect(section.match(/<rect/g)).toHaveLength(1);
    const textsOf = (row: string) => row.replace(/<[^>]*>/g, "");
    expect(section.split("<tr>").slice(2).map(textsOf)).toEqual([
      "ann 3 libraries3.0 GB 3 %\n",
      expect.stringMatching(/^99 other owners 500 libraries97\.0 GB 97 %\n/),
    ]);
    expect(section).toContain("<h2>ann holds 3\u00a0% of the 100.0 GB of 100 owners</h2>");
    expect(page).toContain("1 KB is 1,024 bytes");
  });

  test.each([
    [31, 32, "21 Oct 2026"],
    [32, 17, "20 Oct 2026"],
    [731, 33, "20 Nov 2024"],
  ])("lists %i days of growth in %i rows, with the first day and the present", (days, rows, first) => {
    const end = Date.UTC(2026, 10, 20);
    const growth = Array.from({ length: days }, (_, at) => {
      const day = new Date(end - (days - 1 - at) * 86_400_000);
      return snapshot({ day, libraries: at, parents: 1, results: 0, bytes: 512 });
    });
    const section = sectionOf(formatOne({ growth }).page, "growth");
    const listed = [...section.matchAll(/<tr><td data-title="day \(UTC\)"><span>(.*?)<\/span>/g)].map(([, day]) => day);
    expect([listed.length, listed[0], listed.at(-1)]).toEqual([rows, first, "20 Nov 2026, 14:03"]);
    expect(section.includes("of the others, and the last one.")).toBe(days > 31);
  });

  test("draws growth once there are two days of snapshots", () => {
    const growth = [grown("2026-11-19", 1), grown("2026-11-20", 2, 4, 1, 2048)];
    const now = counted({ libraries: 3, parents: 4, results: 1, bytes: 3072 });
    const { page, findings } = formatOne({ growth, ...now });
    // The present is later than the last snapshot.
    expect(findings.growth).toBe("2 more libraries and 1 fewer scenario since 19 Nov 2026");
    const section = sectionOf(page, "growth");
    expect([...section.matchAll(/aria-label="(.*?)"/g)].map(([, label]) => label)).toEqual([
      "libraries by day, from 19 Nov 2026: now 3",
      "stored by day, from 19 Nov 2026: now 3.0 KB",
      "parents by day, from 19 Nov 2026: now 4",
      "results by day, from 19 Nov 2026: now 1",
      "active libraries by day, from 19 Nov 2026: now 1",
      "stale libraries by day, from 19 Nov 2026: now 0",
    ]);
  });

  const twoDays = [grown("2026-10-21"), grown("2026-11-20")];

  test.each([
    [4, 6, "As many libraries and scenarios as on 21 Oct 2026", "±0 in 30 days"],
    [4, 8, "As many libraries as on 21 Oct 2026, and 2 more scenarios", "+2 in 30 days"],
    [3, 4, "1 fewer library and 2 fewer scenarios since 21 Oct 2026", "\u22122 in 30 days"],
  ])("with %i libraries and %i scenarios after 4 and 6, has a heading and a card", (count, parents, finding, card) => {
    const { page, findings } = formatOne({ growth: twoDays, ...counted({ libraries: count, parents, results: 0 }) });
    expect(findings.growth).toBe(finding);
    expect(page).toContain(`<dt>scenarios</dt><dd>${parents}<small>${parents} parents, 0 results<br>`);
    expect(page.replaceAll("\n", "")).toContain(`${card}</small></dd></div><div><dt>stored`);
  });

  test("has cards with the changes of the last 30 days that are known (fault 205)", () => {
    const growth = ["2026-09-20", "2026-10-10", "2026-11-09"].map((day, results) => grown(day, 4, 4, results));
    const now = counted({ libraries: 4, parents: 4, results: 2 });
    const { page } = formatOne({ growth, ...now, ...knownUntil("2026-11-09T14:03:20") });
    expect(page).toContain("4 parents, 2 results<br>+1 since 10 Oct 2026 (complete until 9 Nov 2026)</small>");
  });

  test("shows no change of the storage if a size became known or unknown (fault 243)", () => {
    const storage = (sizesUnread: number) => {
      const now = counted({ libraries: 4, parents: 4, results: 2, bytes: 512, sizesUnread });
      return formatOne({ growth: twoDays, ...now }).page;
    };
    expect(storage(0)).toContain("<dt>stored</dt><dd>512 B<small>\u2212512 B in 30 days</small>");
    expect(storage(1)).toContain("<dt>stored</dt><dd>512 B<small>without 1 library of unknown size</small>");
  });

  test("interrupts the line of growth at days without a snapshot, and shades them", () => {
    const { page } = formatOne({ growth: ["2026-10-20", "2026-10-21", "2026-11-19"].map((day) => grown(day)) });
    const [, chart = ""] = /<svg class="chart"(.*?)<\/svg>/s.exec(sectionOf(page, "growth")) ?? [];
    expect(chart.match(/class="shade"/g)).toHaveLength(1);
    expect(/class="curve" d="(.*?)"/.exec(chart)?.[1]?.match(/M/g)).toHaveLength(2);
  });

  test("shades the days that no run looked at, and marks them in the table", () => {
    const days = changeDays((ago) => (ago === 6 ? { "scenario added": 5 } : {}));
    const changes = days.map((day, at) => ({ ...day, isKnown: at % 2 === 1 }));
    const { page } = formatOne({ changesSince: since, changes, changed: hugeRows.changed });
    const section = sectionOf(page, "changes");
    // In each of two pictures 19, 17, 15 and 13 November, and the part of 13 November before the period.
    expect(section.match(/class="shade"/g)).toHaveLength(10);
    const cellsOf = (day: string) => section.split(`<span>${day}</span>`)[1]?.split("</tr>")[0] ?? "";
    expect(section).toContain("<span>19 Nov 2026, unknown</span>");
    expect(cellsOf("19 Nov 2026, unknown")).not.toContain("<span>0</span>");
    expect(cellsOf("18 Nov 2026").match(/<span>0<\/span>/g)).toHaveLength(6);
    expect(section).toContain("<span>18 Nov 2026</span>");
  });

  test("counts the same runs in the heading, the picture and the table", () => {
    const rows = { ...hugeRows, since: utc("2026-11-20T12:03:20"), endings: [{ status: "ok" as const, runs: 8 }] };
    const runs = hugeRows.runs.map((run) => ({ ...run, status: "ok" as const }));
    const { page, findings } = format({ ...rows, runs });
    expect(findings.runs).toBe("All 8 runs of the last 2 hours succeeded");
    const section = sectionOf(page, "runs");
    expect(section).toContain("8 ok</span>");
    expect(section).toContain("The last 8 runs, from 20 Nov 2026, 12:03");
    expect(section.match(/<td data-title="run">/g)).toHaveLength(8);
  });

  test("leaves runs that died out of the number of those that it draws (fault 402)", () => {
    const endings = [
      { status: "ok" as const, runs: 7 },
      { status: "abandoned" as const, runs: 1 },
    ];
    const section = sectionOf(format({ ...hugeRows, since: utc("2026-11-20T12:03:20"), endings }).page, "runs");
    expect(section).toContain("The last 7 runs, from");
  });

  test("says of no run that died how long it took, because nothing records it (fault 284)", () => {
    const ended = hugeRows.runs.map((run) => ({ ...run, status: "ok" as const }));
    const died = { status: "abandoned" as const };
    const runs = ended.map((run, at) => (at === ended.length - 1 ? { ...run, ...died } : run));
    const section = sectionOf(format({ ...hugeRows, since: utc("2026-11-20T12:03:20"), runs }).page, "runs");
    expect(section).toContain("7 ok</span>");
    const [, item] = /abandoned<.span>(.*?)<.li>/s.exec(section) ?? [];
    expect(item).toMatch(/started (?!.*took)/s);
    expect(section).toContain('<td class="number" data-title="took"></td>');
  });

  test.each([
    [1, "One run, at 20 Nov 2026, 13:48 (UTC), took 4.0 s.", 0],
    [4, "4 runs, from 20 Nov 2026, 13:03 to 20 Nov 2026, 13:48 (UTC), took 0.4 s to 4.0 s.", 0],
    [5, "The last 5 runs, from 20 Nov 2026, 12:48 to 20 Nov 2026, 13:48.", 1],
  ])("describes %i runs", (count, sentence, charts) => {
    const runs = hugeRows.runs.slice(-count).map((run, at) => ({ ...run, durationMs: at === count - 1 ? 4_000 : 400 }));
    const section = sectionOf(formatOne({ runs }).page, "runs");
    expect(section).toContain(sentence);
    expect(section.match(/<svg class="chart"/g) ?? []).toHaveLength(charts);
  });

  test("has one item for libraries that fail for the same reason", () => {
    const reason = "server_error: GET … answered 500: boom";
    const failing = ["Fire", "Water"].map((name) => ({
      ...{ owner: "ann", name, failures: 2, openRejects: 0, lastSuccessAt: null, total: 53, reason, alike: 52 },
      lastError: `server_error: GET /libs/ann/${name} answered 500: boom`,
    }));
    const other = { ...failing[0], name: "Wind", reason: "not_found", alike: 1, lastError: "not_found: GET /x" };
    const { page } = format({
      ...failingRows,
      failing: [...failing, { ...failingRows.failing[0], ...other }] as never,
    });
    const text = sectionOf(page, "attention").replace(/<[^>]*>/g, "");
    expect(text).toContain(
      "52 libraries: server_error: GET … answered 500: boomann/Fire failed 2 times in a row; last good copy: neverann/Water",
    );
    expect(text).toContain("not_found: GET /x");
    expect(text).toContain("… and 50 more.");
  });

  test("names the items of a problem, and has no SQL", () => {
    const items = [
      { owner: "ann", name: "<Fire>", scenarioId: "12", value: "parent_id 99" },
      { owner: "ann", name: "Wind", scenarioId: null, value: null },
    ];
    const problems = [{ problem: "parent_missing", severity: "warning", fixBy: "uploader", rows: 17, items }] as const;
    const text = sectionOf(formatOne({ problems: [...problems] }).page, "attention").replace(/<[^>]*>/g, " ");
    expect(text.replace(/\s+/g, " ")).toContain(
      "the owner of the library can fix them: ann / &lt;Fire&gt; , scenario 12: parent_id 99 ann / Wind … and 15 more",
    );
    expect(format(hugeRows).page).not.toMatch(/SELECT|\bFROM\b/);
  });

  test("has a finding of a large organization in each heading", () => {
    expect(format(hugeRows).findings).toEqual({
      attention: "6 problems need attention",
      changes: "4,321 libraries changed in the last 7 days; scenarios: 18,000 added, 5,600 changed, 2,080 removed",
      growth: "2,000 more libraries and 4,000 fewer scenarios since 5 May 2026",
      activity: "1,207 of 10,000 libraries are active: work in the last 30 days",
      age: "Half of the libraries of known date have had no work for 341 days or longer; 7,672 (77 %) are stale: over 90 days",
      storage: "Lib holds 22 % of the 18.0 TB of 1,234 owners",
      versions: "9,581 of 14,703 libraries of known version do not use the newest version of their package in use",
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
    // A link leads only to a section of the page.
    const withoutLinks = page.replace(/<a href="#([a-z]+)">\1<\/a>/g, "");
    expect(withoutLinks).not.toMatch(/<(?:script|img|link|iframe|object|image|use|foreignObject|a)\b/i);
    expect(withoutLinks).not.toMatch(/<[^>]*\s(?:style|on\w+|href|src)=/i);
    expect(page.match(/<style>/g)).toHaveLength(1);
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...page.matchAll(/<a href="#(.*?)">/g)].map(([, id]) => id)).toEqual(ids);
    expect(page).not.toMatch(/undefined|NaN|Infinity|\[object/);
  });

  test("has the numbers of each picture in a table", () => {
    const { page } = format(hugeRows);
    expect(sectionOf(page, "runs")).toContain("The view simcat_report.run_history has all.");
    const sections = page.split("<section").filter((section) => section.includes('role="img"'));
    expect(sections).toHaveLength(4);
    for (const section of sections)
      expect(section).toMatch(/<details><summary>The numbers<\/summary>(<p class="soft">[^<]*<\/p>)?<table/);
    const withBars = page.split("<section").filter((section) => section.includes('class="bar"'));
    expect(withBars).toHaveLength(4);
    for (const section of withBars) expect(section).toMatch(/<svg class="bar".*?<td class="number"/);
  });

  test("is no larger for a large organization than a mail can carry", () => {
    expect(Buffer.byteLength(format(hugeRows).page)).toBeLessThan(300_000);
  });

  test("names its policy by the hash of the sheet that it carries (fault 108)", () => {
    const { page } = format(oneRows);
    const [, sheet = ""] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const hash = createHash("sha256").update(sheet).digest("base64");
    const policy = `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
    expect(page).toContain(`<meta http-equiv="Content-Security-Policy" content="${policy.replaceAll("'", "&#39;")}">`);
  });

  test.each([
    ["hour", "2026-11-20T14:00:00", "20 Nov 2026, 14:00"],
    ["day", "2026-11-14", "14 Nov 2026"],
    ["week", "2026-11-16", "week of 16 Nov 2026"],
    ["month", "2024-08-01", "August 2024"],
  ] as const)("draws what changed by the %s", (step, at, name) => {
    const changes = changeDays(() => ({ "scenario added": 5 })).map((day) => ({ ...day, at: utc(at) }));
    expect(formatOne({ step, changesSince: since, changes, changed: hugeRows.changed }).page).toContain(
      `<title>${name}: 5 scenarios, added or returned</title>`,
    );
  });
});
