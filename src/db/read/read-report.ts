import type { RunStatus } from "../../run-summary.ts";
import { readNow } from "../clock.ts";
import { type Connection, oneRow, type Pool } from "../connect.ts";
import { readSnapshot } from "../transaction.ts";
import * as changes from "./report-changes.ts";
import * as health from "./report-health.ts";
import * as inventory from "./report-inventory.ts";
import { type ReportScope, stepOf } from "./report-scope.ts";

export type ReportRows = Awaited<ReturnType<typeof readReport>>;

/** How many owners, changed libraries and failing libraries are read; of the others only their totals. */
const MAX_PAGE_ROWS = 12;
const MAX_PAGE_RUNS = 40;

/** The contents of the report page: views of simcat_report, from one snapshot. */
export async function readReport(pool: Pool, { sinceMs, owners }: ReportScope, signal: AbortSignal) {
  const read = async (connection: Connection) => {
    // Keeps the aggregates over whole tables in memory.
    await connection.query("SET LOCAL work_mem TO '64MB'");
    const now = await readNow(connection);
    const since = new Date(now.getTime() - sinceMs);
    const of = owners.length === 0 ? null : owners;
    const rows = async <Row extends object>(sql: string, parameters: readonly unknown[]) =>
      (await connection.query<Row>(sql, [...parameters])).rows;
    const row = async <Row extends object>(sql: string, parameters: readonly unknown[]) =>
      oneRow(await connection.query<Row>(sql, [...parameters]));
    const complete = await row<health.Completeness>(health.COMPLETE, []);
    const { historyCompleteSince } = complete;
    const isCounted = historyCompleteSince !== null;
    const changesSince = isCounted && historyCompleteSince > since ? historyCompleteSince : since;
    const step = stepOf(now.getTime() - changesSince.getTime());
    return {
      database: (await row<{ name: string }>("SELECT current_database() AS name", [])).name,
      now,
      since,
      changesSince,
      step,
      owners,
      complete,
      libraries: await row<inventory.LibraryTotals>(inventory.LIBRARIES, [of]),
      ages: await rows<inventory.AgeRow>(inventory.AGES, [of]),
      active: await rows<{ at: Date; count: number }>(inventory.ACTIVE, [of]),
      growth: await rows<inventory.GrowthRow>(inventory.GROWTH, [of]),
      storage: await rows<inventory.StorageRow>(inventory.STORAGE, [of, MAX_PAGE_ROWS]),
      versions: await rows<inventory.VersionRow>(inventory.VERSIONS, [of]),
      parents: await rows<inventory.ParentsRow>(inventory.PARENTS, [of, MAX_PAGE_ROWS]),
      staleResults: (await row<{ count: number }>(inventory.STALE_RESULTS, [of])).count,
      runs: (await rows<health.ReportRun>(health.RECENT_RUNS, [MAX_PAGE_RUNS])).toReversed(),
      endings: await rows<{ status: RunStatus; runs: number }>(health.ENDINGS, [since]),
      changes: isCounted ? await rows<changes.ChangeRow>(changes.CHANGES, [of, changesSince, step]) : [],
      changed: isCounted
        ? await rows<changes.ChangedLibrary>(changes.CHANGED_LIBRARIES, [of, changesSince, MAX_PAGE_ROWS])
        : [],
      failing: await rows<health.FailingLibrary>(health.FAILING, [of, MAX_PAGE_ROWS]),
      problems: await rows<health.ProblemRow>(health.PROBLEMS, [of]),
    };
  };
  return readSnapshot(pool, "reading the report", read, signal);
}
