import type { ReportRows } from "../../src/report/report-page/report-page.ts";
import type { RunStatus } from "../../src/run-summary.ts";
import { AWKWARD_NAMES } from "../support/organization.ts";

const MINUTE = 60_000;
export const DAY = 1440 * MINUTE;
const NOW = new Date("2026-11-20T14:03:20Z");
export const ago = (ms: number) => new Date(NOW.getTime() - ms);
export const dayOf = (time: Date) => new Date(time.toISOString().slice(0, 10));

/** A database in which no run was. */
export const emptyRows: ReportRows = {
  now: NOW,
  since: ago(7 * DAY),
  changesSince: ago(7 * DAY),
  step: "day",
  owners: [],
  complete: {
    database: "simcat",
    completeAsOf: null,
    knownUntil: null,
    lastWholeRunId: null,
    librariesBehind: 0,
    historyCompleteSince: null,
  },
  libraries: {
    libraries: 0,
    owners: 0,
    parents: 0,
    results: 0,
    bytes: 0,
    sizesUnread: 0,
    active: 0,
    stale: 0,
    unknown: 0,
    medianDays: null,
  },
  ages: [],
  active: [],
  growth: [],
  storage: [],
  versions: [],
  parents: [],
  runs: [],
  endings: [],
  changes: [],
  changed: [],
  failing: [],
  problems: [],
  moves: [],
};

/** A day as a step of a column chart. */
const stepOf = (time: Date) => ({ at: dayOf(time), end: new Date(dayOf(time).getTime() + DAY), isKnown: true });

/** The last days with the changes of each, by the number of days ago. */
export const changeDays = (countsOf: (daysAgo: number) => ReportRows["changes"][number]["counts"] = () => ({})) =>
  Array.from({ length: 8 }, (_, at) => ({ ...stepOf(ago((7 - at) * DAY)), counts: countsOf(7 - at) }));

/** The last days with their active libraries, by the number of days ago. */
export const activeDays = (countOf: (daysAgo: number) => number) =>
  Array.from({ length: 31 }, (_, at) => ({ ...stepOf(ago((30 - at) * DAY)), counts: { libraries: countOf(30 - at) } }));

/** A snapshot before which everything was read. */
export const snapshot = <Row extends { readonly day: Date }>(row: Row) => ({
  active: 1,
  stale: null,
  sizesUnread: 0,
  ...row,
  readLater: { libraries: 0, scenarios: 0, bytes: 0 },
  hasEvents: true,
});

/** One library, one scenario, one run. */
export const oneRows: ReportRows = {
  ...emptyRows,
  changesSince: ago(5 * MINUTE),
  complete: {
    ...emptyRows.complete,
    completeAsOf: ago(5 * MINUTE),
    knownUntil: ago(5 * MINUTE),
    lastWholeRunId: 1,
    historyCompleteSince: ago(5 * MINUTE),
  },
  libraries: { ...emptyRows.libraries, libraries: 1, owners: 1, parents: 1, bytes: 512, active: 1, medianDays: 3 },
  ages: [{ age: 0, libraries: 1 }],
  active: activeDays((ago) => (ago === 3 ? 1 : 0)),
  growth: [snapshot({ day: dayOf(NOW), libraries: 1, parents: 1, results: 0, bytes: 512 })],
  storage: [{ owner: "ann", owners: 1, libraries: 1, bytes: 512, ties: 1 }],
  versions: [
    { packageName: "landscape", packageVersion: "4.3.6", libraries: 1, newestVersion: "4.3.6", versionsBehind: 0 },
  ],
  parents: [{ owner: "ann", owners: 1, scenarios: 1, parents: 1, withoutResults: 1, stale: 0 }],
  runs: [
    { id: 1, kind: "backfill", scope: null, status: "ok", startedAt: ago(5 * MINUTE), durationMs: 400, error: null },
  ],
  endings: [{ status: "ok", runs: 1 }],
  changes: changeDays(),
};

/** Five listed libraries that could not be read, in the only run. */
export const failingRows: ReportRows = {
  ...emptyRows,
  changesSince: ago(5 * MINUTE),
  complete: { ...oneRows.complete, completeAsOf: null },
  runs: oneRows.runs.map((run) => ({ ...run, status: "partial" })),
  endings: [{ status: "partial", runs: 1 }],
  failing: Array.from({ length: 5 }, (_, at) => ({
    owner: "ann",
    name: `Fire ${at + 1}`,
    failures: 1,
    openRejects: 0,
    lastSuccessAt: null,
    lastError: `mismatched: the metadata names another library: ${"very long ".repeat(50)}; rename it in the service`,
    total: 5,
  })),
};

const STATUSES: readonly RunStatus[] = [
  "ok",
  "ok",
  "partial",
  "held",
  "source_unavailable",
  "interrupted",
  "abandoned",
];
const LONG = "A very long name of a library that somebody gave it and that goes on and on ".repeat(6).trim();
const NAMES = [...AWKWARD_NAMES, LONG, "W".repeat(300)];
const named = (at: number) => NAMES[at % NAMES.length] ?? "";
const rejectOf = (value: string) => ({ owner: null, name: null, scenarioId: null, value });
const orphanOf = (name: string) => ({ owner: name, name, scenarioId: "12", value: "parent_id 99" });

/** Ten thousand libraries of owners whose names are hostile, huge, of another direction or no letters at all. */
export const hugeRows: ReportRows = {
  ...oneRows,
  complete: {
    database: "simcat",
    completeAsOf: ago(3 * DAY),
    knownUntil: ago(15 * MINUTE),
    lastWholeRunId: 39,
    librariesBehind: 1_204,
    historyCompleteSince: ago(200 * DAY),
  },
  changesSince: ago(7 * DAY),
  libraries: {
    libraries: 10_000,
    owners: 1_234,
    parents: 182_000,
    results: 874_000,
    bytes: 18 * 2 ** 40,
    sizesUnread: 104,
    active: 1_207,
    stale: 7_672,
    unknown: 21,
    medianDays: 341,
  },
  ages: [
    { age: 0, libraries: 1_207 },
    { age: 1, libraries: 1_100 },
    { age: 2, libraries: 2_890 },
    { age: 3, libraries: 2_404 },
    { age: 4, libraries: 2_378 },
    { age: 5, libraries: 21 },
  ],
  active: activeDays((ago) => 20 + ((ago * 7) % 40)),
  growth: Array.from({ length: 200 }, (_, at) =>
    snapshot({
      day: dayOf(ago((199 - at) * DAY)),
      libraries: 8_000 + 10 * at,
      parents: 160_000 + 110 * at,
      results: 900_000 - 130 * at,
      bytes: (12 + 0.03 * at) * 2 ** 40,
    }),
  ),
  storage: Array.from({ length: 13 }, (_, at) => ({
    owner: at === 12 ? null : named(at + 9),
    owners: at === 12 ? 1_222 : 1,
    libraries: 900 - at,
    bytes: (at === 12 ? 9 : 4 / (at + 1)) * 2 ** 40,
    ties: 1,
  })),
  versions: Array.from({ length: 40 }, (_, at) => ({
    packageName: at === 39 ? null : named(Math.floor(at / 3) + 11),
    packageVersion: at === 39 ? null : `4.${9 - (at % 3)}.${at}`,
    libraries: 700 - 17 * at,
    newestVersion: at === 39 ? null : "4.9.0",
    versionsBehind: at === 39 ? null : at % 3,
  })),
  parents: Array.from({ length: 13 }, (_, at) => ({
    owner: at === 12 ? null : named(at),
    owners: at === 12 ? 1_222 : 1,
    scenarios: 90_000,
    parents: 20_000 - 1_000 * at,
    withoutResults: at === 3 ? 0 : 9_000 - 600 * at,
    stale: at === 0 ? 412 : 0,
  })),
  runs: Array.from({ length: 40 }, (_, at) => {
    const status = STATUSES[at % STATUSES.length] ?? "ok";
    return {
      id: at + 1,
      kind: "sync",
      scope: null,
      status,
      startedAt: ago((40 - at) * 15 * MINUTE),
      durationMs: 1_000 * (1 + ((at * 37) % 400)),
      error: status === "ok" ? null : `GET /libs answered 503 after 5 attempts; ${named(at)}`,
    };
  }),
  endings: [
    { status: "ok", runs: 650 },
    { status: "partial", runs: 20 },
    { status: "source_unavailable", runs: 2 },
  ],
  changes: changeDays((ago) => ({
    "scenario added": 1_900 + 100 * ago,
    "scenario changed": 700,
    "scenario removed": 400 - 40 * ago,
    "library changed": 120,
  })),
  changed: Array.from({ length: 12 }, (_, at) => ({
    owner: named(at + 3),
    name: named(at + 13),
    library: ["added", "changed", null, "removed"][at % 4] ?? null,
    added: 12 * at,
    changed: at % 3,
    removed: at % 5,
    lastChangedAt: ago(at * 37 * MINUTE),
    total: 4_321,
  })),
  failing: NAMES.slice(0, 12).map((name, at) => ({
    owner: "ann",
    name,
    failures: at,
    openRejects: 12 - at,
    lastSuccessAt: at === 0 ? null : ago(at * DAY),
    lastError: `not_found: GET /libs/ann/${name} answered 404`,
    total: 31,
  })),
  problems: [
    { problem: "open_reject", severity: "error", fixBy: "operator", rows: 120, items: NAMES.slice(0, 5).map(rejectOf) },
    {
      problem: "parent_missing",
      severity: "warning",
      fixBy: "uploader",
      rows: 17,
      items: NAMES.slice(5, 10).map(orphanOf),
    },
    { problem: "date_not_understood", severity: "warning", fixBy: "operator", rows: 1, items: [rejectOf("some day")] },
  ],
};
