import { randomUUID } from "node:crypto";
import { onTestFinished } from "vitest";
import type { TestDatabase } from "../support/database.ts";

/** The rights that a role needs to run simcat on an existing schema. */
export const GRANTS = [
  "USAGE ON SCHEMA simcat, simcat_migrations",
  "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA simcat",
  "SELECT ON ALL TABLES IN SCHEMA simcat_migrations",
];

/** A role of the test's own that has only the granted rights; dropped afterwards. Its URL leads to the test's database. */
export async function createRole(
  { url, query }: TestDatabase,
  {
    name = `simcat_role_${randomUUID().replaceAll("-", "").slice(0, 12)}`,
    grants = GRANTS,
    attributes = "",
    password = randomUUID(),
  }: { name?: string; grants?: readonly string[]; attributes?: string; password?: string } = {},
) {
  await query(`CREATE ROLE "${name}" LOGIN PASSWORD '${password.replaceAll("'", "''")}' ${attributes}`);
  onTestFinished(async () => {
    await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [name]);
    await query(`DROP OWNED BY "${name}" CASCADE`);
    await query(`DROP ROLE "${name}"`);
  });
  for (const grant of grants) await query(`GRANT ${grant} TO "${name}"`);
  const own = new URL(url);
  own.username = encodeURIComponent(name);
  own.password = encodeURIComponent(password);
  return { name, url: own.href };
}
