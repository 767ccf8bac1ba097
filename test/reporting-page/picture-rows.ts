import type { ReportRows } from "../../src/report/report-page/report-page.ts";
import { activeDays, changeDays, oneRows, snapshot } from "./report-rows.ts";

const DAY = 86_400_000;
const NOW = oneRows.now;
const ago = (days: number) => new Date(NOW.getTime() - days * DAY);
const dayOf = (time: Date) => new Date(time.toISOString().slice(0, 10));
const OWNERS = ["alice-zhang", "ben.okafor", "chloe_martin", "dmitri", "elena-rossi"];

const ACTIVE_DAYS = new Set(Array.from({ length: 18 }, (_, at) => Math.round(at * 1.6)));

/** An organization of 42 libraries after half a year, for the pictures of the documents. */
export const pictureRows: ReportRows = {
  ...oneRows,
  complete: { ...oneRows.complete, lastWholeRunId: 9_120, historyCompleteSince: ago(180) },
  changesSince: ago(7),
  libraries: {
    libraries: 42,
    owners: OWNERS.length,
    parents: 600,
    results: 1_100,
    bytes: 5.2 * 2 ** 30,
    sizesUnread: 0,
    active: 18,
    stale: 10,
    unknown: 0,
    medianDays: 41,
  },
  ages: [
    { age: 0, libraries: 18 },
    { age: 1, libraries: 14 },
    { age: 2, libraries: 7 },
    { age: 3, libraries: 3 },
  ],
  active: activeDays((day) => (ACTIVE_DAYS.has(day) ? 1 : 0)),
  growth: Array.from({ length: 181 }, (_, at) =>
    snapshot({
      day: dayOf(ago(180 - at)),
      libraries: 24 + Math.floor((at + 8) / 10),
      parents: 222 + Math.round(2.1 * at),
      results: 398 + Math.round(4.4 * at) - (at > 120 ? 90 : 0),
      bytes: (2.9 + 0.0128 * at) * 2 ** 30,
      // An earlier version took the first snapshots.
      active: at < 30 ? null : 10 + Math.round(at / 22.5),
      stale: at < 30 ? null : 7 + Math.round(at / 60),
    }),
  ),
  storage: OWNERS.map((owner, at) => ({
    owner,
    owners: 1,
    libraries: [14, 11, 8, 5, 4][at] ?? 0,
    bytes: (1.793 / (1 + at / 2)) * 2 ** 30,
    ties: 1,
  })),
  versions: ["4.3.6", "4.3.5", "4.2.0"].map((packageVersion, at) => ({
    packageName: "landscape",
    packageVersion,
    libraries: [23, 13, 6][at] ?? 0,
    newestVersion: "4.3.6",
    versionsBehind: at,
  })),
  parents: OWNERS.map((owner, at) => ({
    owner,
    owners: 1,
    scenarios: 520 - 90 * at,
    parents: 180 - 30 * at,
    withoutResults: 30 - 6 * at,
    stale: at === 0 ? 6 : 0,
  })),
  runs: Array.from({ length: 40 }, (_, at) => {
    const isFailed = at === 22;
    return {
      id: 9_081 + at,
      kind: "sync",
      scope: null,
      status: isFailed ? ("source_unavailable" as const) : ("ok" as const),
      startedAt: new Date(NOW.getTime() - (40 - at) * 900_000),
      durationMs: 900 + ((at * 37) % 11) * 420,
      error: isFailed ? "GET /libs answered 503 after 5 attempts" : null,
    };
  }),
  endings: [
    { status: "ok", runs: 671 },
    { status: "source_unavailable", runs: 1 },
  ],
  changes: changeDays((ago) => ({
    "scenario added": 3 + ((ago * 5) % 8),
    "scenario changed": 3 + (ago % 4),
    "scenario removed": ago % 3,
    "library changed": 1 + (ago % 4),
  })),
  changed: OWNERS.map((owner, at) => ({
    owner,
    name: ["Forest fire", "Lake levels", "Harbour", "Wind park", "Grid 2030"][at] ?? "",
    library: "changed" as const,
    // Their sums are those of `changes`.
    added: [20, 13, 9, 6, 4][at] ?? 0,
    changed: [14, 9, 7, 4, 2][at] ?? 0,
    removed: [4, 2, 1, 0, 0][at] ?? 0,
    lastChangedAt: ago(at * 0.7),
    total: OWNERS.length,
  })),
  failing: [],
  problems: [
    {
      problem: "parent_missing",
      severity: "warning",
      fixBy: "uploader",
      rows: 3,
      items: ["12", "14", "31"].map((scenarioId) => ({
        owner: "dmitri",
        name: "Wind park",
        scenarioId,
        value: "parent_id 7",
      })),
    },
  ],
};
