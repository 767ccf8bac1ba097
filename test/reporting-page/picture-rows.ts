import type { ReportRows } from "../../src/report/report-page/report-page.ts";
import { activeDays, changeDays, DAY, dayOf, ago as msAgo, oneRows, snapshot } from "./report-rows.ts";

const ago = (days: number) => msAgo(days * DAY);
const OWNERS = ["alice-zhang", "ben.okafor", "chloe_martin", "dmitri", "elena-rossi"];

const ACTIVE_DAYS = new Set(Array.from({ length: 18 }, (_, at) => Math.round(at * 1.6)));

/** An organization of 42 libraries after half a year; the rows of the sections that the pictures of the documents show. */
export const pictureRows: ReportRows = {
  ...oneRows,
  complete: { ...oneRows.complete, historyCompleteSince: ago(180) },
  changesSince: ago(7),
  libraries: {
    ...oneRows.libraries,
    ...{ libraries: 42, owners: OWNERS.length, parents: 600, results: 1_100, bytes: 5.2 * 2 ** 30 },
    ...{ active: 18, stale: 10, medianDays: 41 },
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
