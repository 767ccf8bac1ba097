type Query = <T>(sql: string, parameters?: readonly unknown[]) => Promise<T[]>;

/** Tables in which each run has a row of its own, and each first run of a day many. */
export const ROWS_OF_RUNS = ["leases", "sync_runs", "snapshot_days", "library_days", "owner_days"];

/** The place and the maker of every row of simcat's: equal before and after if nothing was written. */
export async function rowVersions(query: Query, except: readonly string[] = []): Promise<string[]> {
  const tables = await query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'simcat' AND table_type = 'BASE TABLE' AND table_name <> ALL ($1)`,
    [except],
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      query<{ row: string }>(`SELECT '${name} ' || ctid || ' ' || xmin || ' ' || xmax AS row FROM simcat.${name}`),
    ),
  );
  return rows.flatMap((some) => some.map(({ row }) => row)).sort();
}
