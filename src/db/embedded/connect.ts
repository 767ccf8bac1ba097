import pg from "pg";
import { hasCode } from "./has-code.ts";

/** Where the server answers, as URLs want it. */
export function databaseUrl(port: number, password: string, database = "simcat"): string {
  return `postgres://simcat:${password}@127.0.0.1:${port}/${database}`;
}

/** Asks the server something, with our password; makes the database `simcat` if it is not there. */
export async function ensureDatabase(port: number, password: string): Promise<void> {
  try {
    await run(databaseUrl(port, password), "SELECT 1");
  } catch (error) {
    if (!hasCode(error, "3D000")) throw error; // There is no such database.
    await run(databaseUrl(port, password, "postgres"), "CREATE DATABASE simcat");
  }
}

async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => {}); // A connection that is cut afterwards is no news.
  try {
    await client.connect();
    await client.query(statement);
  } finally {
    await client.end();
  }
}
