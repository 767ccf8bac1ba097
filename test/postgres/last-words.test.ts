import { expect, onTestFinished, test } from "vitest";
import { type Connection, connect, disconnect, type Pool } from "../../src/db/connect.ts";
import { withTransaction } from "../../src/db/transaction.ts";
import { useTestDatabase } from "../support/database.ts";
import { startPostgresProxy } from "./proxy.ts";

const database = useTestDatabase({ empty: true });
const never = new AbortController().signal;

async function pool(): Promise<Pool> {
  const made = await connect(database().url, { max: 1 }, never);
  onTestFinished(() => disconnect(made));
  return made;
}

/** Ends the session while no answer is pending, and resolves when its driver has noticed. */
async function end(connection: Connection): Promise<void> {
  const { rows } = await connection.query("SELECT pg_backend_pid() AS pid");
  const ended = new Promise((resolve) => connection.once("end", () => resolve(null)));
  await database().query("SELECT pg_terminate_backend($1)", [rows[0].pid]);
  await ended;
}

test("a session that the server ended between statements is reported in the server's words", async () => {
  const failing = withTransaction(
    await pool(),
    { operation: "looking", retryForMs: 0 },
    async (connection) => {
      await end(connection);
      await connection.query("SELECT 1");
    },
    never,
  );

  await expect(failing).rejects.toThrow(
    /^looking failed: terminating connection due to administrator command \(57P01\); see the database's log$/,
  );
});

test("a session ended before its COMMIT is reported in the server's words, and the transaction is retried", async () => {
  let attempts = 0;
  const work = async (connection: Connection) => {
    attempts += 1;
    if (attempts === 1) await end(connection);
    return attempts;
  };

  await expect(withTransaction(await pool(), { operation: "looking", retryForMs: 0 }, work, never)).rejects.toThrow(
    "(57P01)",
  );
  attempts = 0;
  expect(await withTransaction(await pool(), { operation: "looking" }, work, never)).toBe(2);
});

test("a session ended as soon as it is ready is reported in the server's words", async () => {
  const proxy = await startPostgresProxy(database().url);
  const url = proxy.url(database().url);
  const words = "terminating connection due to administrator command (57P01)";
  const used = await connect(url, { max: 1 }, never);
  onTestFinished(() => disconnect(used));
  const idle = new Promise((resolve) => used.once("remove", resolve));
  proxy.cutAll();
  await idle;

  proxy.endAtOnce = 2;

  await expect(connect(url, { max: 1, retryForMs: 0 }, never)).rejects.toThrow(words);
  await expect(withTransaction(used, { operation: "looking", retryForMs: 0 }, async () => {}, never)).rejects.toThrow(
    words,
  );
  expect(proxy.endAtOnce).toBe(0);
});
