import type { ReportRows } from "../../src/db/read/read-report.ts";
import type { RunStatus } from "../../src/run-report.ts";
import { AWKWARD_NAMES } from "../support/organization.ts";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const NOW = new Date("2026-11-20T14:03:20Z");
const ago = (ms: number) => new Date(NOW.getTime() - ms);

/** A database in which no run was. */
export const emptyRows: ReportRows = {
  now: NOW,
  since: ago(7 * DAY),
  step: "day",
  owners: [],
  complete: { completeAsOf: null, lastWholeRunId: null, librariesBehind: 0, unaddressable: 0 },
  libraries: { libraries: 0, owners: 0, bytes: 0, sizesUnread: 0, undated: 0, touched: 0, stale: 0, medianDays: null },
  ages: [],
  activity: [],
  storage: [],
  versions: [],
  parents: [],
  runs: [],
  endings: [],
  firstFill: { runId: null, libraries: 0, scenarios: 0 },
  changes: [],
  changed: [],
  failing: [],
  problems: [],
};

/** One library, one scenario, one run. */
export const oneRows: ReportRows = {
  ...emptyRows,
  complete: { completeAsOf: ago(5 * MINUTE), lastWholeRunId: 1, librariesBehind: 0, unaddressable: 0 },
  libraries: { libraries: 1, owners: 1, bytes: 512, sizesUnread: 0, undated: 0, touched: 1, stale: 0, medianDays: 3 },
  ages: [{ age: 1, libraries: 1 }],
  activity: [{ month: "2026-11", libraries: 1, scenarios: 1 }],
  storage: [{ owner: "ann", owners: 1, libraries: 1, bytes: 512 }],
  versions: [
    { packageName: "landscape", packageVersion: "4.3.6", libraries: 1, newestVersion: "4.3.6", versionsBehind: 0 },
  ],
  parents: [{ owner: "ann", owners: 1, scenarios: 1, parents: 1, withoutResults: 1 }],
  runs: [
    { id: 1, kind: "backfill", status: "ok", startedAt: ago(5 * MINUTE), durationMs: 400, isWhole: true, error: null },
  ],
  endings: [{ status: "ok", runs: 1 }],
  firstFill: { runId: 1, libraries: 1, scenarios: 1 },
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

/** Ten thousand libraries of owners whose names are hostile, huge, of another direction or no letters at all. */
export const hugeRows: ReportRows = {
  ...oneRows,
  complete: { completeAsOf: ago(3 * DAY), lastWholeRunId: 39, librariesBehind: 1_204, unaddressable: 2 },
  libraries: {
    libraries: 10_000,
    owners: 1_234,
    bytes: 18 * 2 ** 40,
    sizesUnread: 104,
    undated: 21,
    touched: 1_207,
    stale: 4_810,
    medianDays: 341,
  },
  ages: [
    ...[3, 604, 600, 1_100, 1_400, 1_462, 2_000, 2_500, 310].map((libraries, age) => ({ age, libraries })),
    { age: null, libraries: 21 },
  ],
  activity: Array.from({ length: 24 }, (_, at) => ({
    month: `${2024 + Math.floor((at + 11) / 12)}-${String(((at + 11) % 12) + 1).padStart(2, "0")}`,
    libraries: 300 + ((at * 7_919) % 1_500),
    scenarios: 30_000 + at,
  })),
  storage: Array.from({ length: 13 }, (_, at) => ({
    owner: at === 12 ? null : named(at + 9),
    owners: at === 12 ? 1_222 : 1,
    libraries: 900 - at,
    bytes: (at === 12 ? 9 : 4 / (at + 1)) * 2 ** 40,
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
  })),
  runs: Array.from({ length: 40 }, (_, at) => {
    const status = STATUSES[at % STATUSES.length] ?? "ok";
    return {
      id: at + 1,
      kind: "sync",
      status,
      startedAt: ago((40 - at) * 15 * MINUTE),
      durationMs: 1_000 * (1 + ((at * 37) % 400)),
      isWhole: true,
      error: status === "ok" ? null : `GET /libs answered 503 after 5 attempts; ${named(at)}`,
    };
  }),
  endings: [
    { status: "ok", runs: 650 },
    { status: "partial", runs: 20 },
    { status: "source_unavailable", runs: 2 },
  ],
  firstFill: { runId: null, libraries: 0, scenarios: 0 },
  changes: Array.from({ length: 8 }, (_, at) => ago(at * DAY)).flatMap((moment, at) => {
    const day = new Date(moment.toISOString().slice(0, 10));
    return [
      { at: day, what: "scenario", kind: "added", count: 1_900 + 100 * at },
      { at: day, what: "scenario", kind: "changed", count: 700 },
      { at: day, what: "scenario", kind: "removed", count: 400 - 40 * at },
      { at: day, what: "library", kind: "changed", count: 120 },
    ] as const;
  }),
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
    lastReadAt: at === 0 ? null : ago(at * DAY),
    lastError: `not_found: GET /libs/ann/${name} answered 404`,
    total: 31,
  })),
  problems: [
    { problem: "open_reject", rows: 120 },
    { problem: "parent_missing", rows: 17 },
    { problem: "date_not_understood", rows: 1 },
  ],
};
