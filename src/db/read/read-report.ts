import type { RunStatus } from "../../model.ts";
import type { Connection, Pool } from "../connect.ts";
import { readNow, readSnapshot } from "../snapshot.ts";
import { CHANGED_LIBRARIES, CHANGES, type ChangedLibrary, type ChangeRow, FIRST_FILL } from "./report-changes.ts";
import {
  COMPLETE,
  type Completeness,
  ENDINGS,
  FAILING,
  type FailingLibrary,
  PROBLEMS,
  RECENT_RUNS,
  type ReportRun,
} from "./report-health.ts";
import { type ReportScope, stepOf } from "./report-scope.ts";
import {
  ACTIVITY,
  AGES,
  LIBRARIES,
  type LibraryTotals,
  PARENTS,
  type ParentsRow,
  STORAGE,
  type StorageRow,
  VERSIONS,
  type VersionRow,
} from "./report-stock.ts";

export type ReportRows = Awaited<ReturnType<typeof readReport>>;

/** So many are told one by one; of the rest there are the numbers. */
const SHOWN = 12;
const RUNS = 40;

/** What the page tells, from the views of simcat_report and the counts of library_sync, at one moment. */
export async function readReport(pool: Pool, { sinceMs, owners }: ReportScope, signal: AbortSignal) {
  const read = async (connection: Connection) => {
    // Whole tables are counted here: in memory rather than on disk.
    await connection.query("SET LOCAL work_mem TO '64MB'");
    const now = await readNow(connection);
    const since = new Date(now.getTime() - sinceMs);
    const step = stepOf(sinceMs);
    const of = owners.length === 0 ? null : owners;
    const rows = async <Row extends object>(sql: string, parameters: readonly unknown[]) =>
      (await connection.query<Row>(sql, [...parameters])).rows;
    const one = async <Row extends object>(sql: string, parameters: readonly unknown[]): Promise<Row> => {
      const [row] = await rows<Row>(sql, parameters);
      if (row === undefined) throw new Error("an aggregate answered no row");
      return row;
    };
    return {
      now,
      since,
      step,
      owners,
      complete: await one<Completeness>(COMPLETE, []),
      libraries: await one<LibraryTotals>(LIBRARIES, [of]),
      ages: await rows<{ age: number | null; libraries: number }>(AGES, [of]),
      activity: await rows<{ month: string; libraries: number; scenarios: number }>(ACTIVITY, [of, now]),
      storage: await rows<StorageRow>(STORAGE, [of, SHOWN]),
      versions: await rows<VersionRow>(VERSIONS, [of]),
      parents: await rows<ParentsRow>(PARENTS, [of, SHOWN]),
      runs: (await rows<ReportRun>(RECENT_RUNS, [RUNS])).toReversed(),
      endings: await rows<{ status: RunStatus; runs: number }>(ENDINGS, [since]),
      firstFill: await one<{ runId: number | null; libraries: number; scenarios: number }>(FIRST_FILL, [of, since]),
      changes: await rows<ChangeRow>(CHANGES, [of, since, step]),
      changed: await rows<ChangedLibrary>(CHANGED_LIBRARIES, [of, since, SHOWN]),
      failing: await rows<FailingLibrary>(FAILING, [of, SHOWN]),
      problems: await rows<{ problem: string; rows: number }>(PROBLEMS, [of]),
    };
  };
  return readSnapshot(pool, "reading the report", read, signal);
}
