import { ANSWER_MS, announceOutage, type Pool, within } from "./connect.ts";
import { asDatabaseError } from "./db-errors.ts";
import { retryTransient } from "./retry-transient.ts";

/** The database's clock, so that a wrong local one decides nothing. */
export interface DatabaseClock {
  /** Milliseconds since the epoch by the database's clock, right to within a round trip. */
  now(): number;
  /** The same for a moment of `performance.now()`. */
  at(monotonic: number): number;
  /**
   * Compares the clocks anew.
   * @throws DatabaseError when the database does not answer in time
   */
  sample(signal: AbortSignal): Promise<void>;
}

/** This machine's clock, for where there is no database. */
export const MACHINE_CLOCK: DatabaseClock = {
  now: () => performance.timeOrigin + performance.now(),
  at: (monotonic) => performance.timeOrigin + monotonic,
  sample: async () => {},
};

interface Sample {
  readonly takenAt: number;
  readonly offset: number;
}

const KEPT = 1_000;

/** @throws DatabaseError when the database does not answer in time */
export async function openClock(pool: Pool, signal: AbortSignal): Promise<DatabaseClock> {
  const samples: Sample[] = [];
  const take = async () => {
    const before = performance.now();
    // A numeric travels exactly; a float8 travels as the role's extra_float_digits has it.
    const { rows } = await pool.query<{ now: string }>(
      within(ANSWER_MS, "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::numeric::text AS now"),
    );
    const takenAt = performance.now();
    samples.push({ takenAt, offset: Number(rows[0]?.now) - (before + takenAt) / 2 });
    if (samples.length > KEPT) samples.shift();
  };
  const sample = (until: AbortSignal) =>
    retryTransient(take, until, { onWait: (error) => announceOutage(pool, error) }).catch((error) => {
      throw asDatabaseError("asking the database for its time", error);
    });
  await sample(signal);
  // By the sample of its time: a machine that slept in between must not make an earlier moment look later than it was.
  const at = (monotonic: number) => {
    const then = samples.findLast((one) => one.takenAt <= monotonic) ?? samples[0];
    return monotonic + (then?.offset ?? 0);
  };
  return { now: () => at(performance.now()), at, sample };
}
