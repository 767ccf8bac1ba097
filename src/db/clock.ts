import type { Pool } from "./connect.ts";

/** The database's clock, so that a wrong local one decides nothing. */
export interface DatabaseClock {
  /** Milliseconds since the epoch by the database's clock, right to within a round trip. */
  now(): number;
  /** Compares the clocks anew. */
  sample(): Promise<void>;
}

export async function openClock(pool: Pool): Promise<DatabaseClock> {
  let offset = 0;
  const sample = async () => {
    const before = performance.now();
    const { rows } = await pool.query<{ now: number }>(
      "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now",
    );
    const after = performance.now();
    if (rows[0]) offset = rows[0].now - (before + after) / 2;
  };
  await sample();
  return { now: () => performance.now() + offset, sample };
}
