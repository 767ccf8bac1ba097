import { onTestFinished } from "vitest";
import { connect, disconnect, type Pool } from "../../src/db/connect.ts";

/** The program's own pool of connections to a database, which ends with the test. */
export async function openPool({ url }: { readonly url: string }): Promise<Pool> {
  const pool = await connect(url, {}, new AbortController().signal);
  onTestFinished(() => disconnect(pool));
  return pool;
}
