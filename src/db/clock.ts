import type { Pool } from "./connect.ts";
import { namingDatabase } from "./failures.ts";

/** The database's clock, so that a wrong local one decides nothing. */
export interface DatabaseClock {
  /** Milliseconds since the epoch by the database's clock, right to within a round trip. */
  now(): number;
  /** The same for a moment of `performance.now()`. */
  at(monotonic: number): number;
  /** Compares the clocks anew. */
  sample(): Promise<void>;
}

interface Sample {
  readonly takenAt: number;
  readonly offset: number;
}

const KEPT = 1_000;

export async function openClock(pool: Pool): Promise<DatabaseClock> {
  const samples: Sample[] = [];
  const sample = async () => {
    const before = performance.now();
    const { rows } = await pool.query<{ now: number }>(
      "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now",
    );
    const takenAt = performance.now();
    if (rows[0]) samples.push({ takenAt, offset: rows[0].now - (before + takenAt) / 2 });
    if (samples.length > KEPT) samples.shift();
  };
  await sample().catch((error) => {
    throw namingDatabase("asking the database for its time", error);
  });
  // By the sample of its time: a machine that slept in between must not make an earlier moment look later than it was.
  const at = (monotonic: number) => {
    const then = samples.findLast((one) => one.takenAt <= monotonic) ?? samples[0];
    return monotonic + (then?.offset ?? 0);
  };
  return { now: () => at(performance.now()), at, sample };
}
