import { ANSWER_MS, type Connection, oneRow, type Pool, within } from "./connect.ts";
import { readSnapshot } from "./transaction.ts";

/** The database's clock. All decisions use it, so a wrong local clock has no effect. */
export type DatabaseClock = Awaited<ReturnType<typeof createClock>>;

/** This machine's clock, for commands without a database. */
export const MACHINE_CLOCK: DatabaseClock = {
  now: () => performance.timeOrigin + performance.now(),
  at: (monotonic) => performance.timeOrigin + monotonic,
  sample: async () => {},
};

/** The current time of the database, not later than it shows. The connection is in a transaction. */
export async function readNow(connection: Connection): Promise<Date> {
  return oneRow(await connection.query<{ now: Date }>(within(ANSWER_MS, "SELECT clock_timestamp() AS now"))).now;
}

/** @throws DatabaseError if the database does not answer in time */
export async function createClock(pool: Pool, signal: AbortSignal) {
  const samples: { readonly takenAt: number; readonly offset: number }[] = [];
  const takeSample = async (connection: Connection) => {
    const now = await readNow(connection);
    const takenAt = performance.now();
    // Content that seems to have been read later than it was may count as settled too early.
    samples.push({ takenAt, offset: now.getTime() - takenAt });
  };
  const sample = (until: AbortSignal) => readSnapshot(pool, "reading the database's clock", takeSample, until);
  await sample(signal);
  // The newest sample before the moment: if the machine slept after it, a later offset would shift the moment forward.
  const at = (monotonic: number) => {
    const sampleThen = samples.findLast(({ takenAt }) => takenAt <= monotonic) ?? samples[0];
    if (sampleThen === undefined) throw new Error("the clock has no sample");
    return monotonic + sampleThen.offset;
  };
  return {
    /** Milliseconds since the epoch by the database's clock: not later than it shows, earlier by at most a round trip. */
    now: () => at(performance.now()),
    /** The database's time at a moment of `performance.now()`. */
    at,
    /** Compares the clocks again. @throws DatabaseError if the database does not answer in time */
    sample,
  };
}
