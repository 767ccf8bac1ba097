import type { Query } from "../process/service-rows.ts";

/** Contains every character that a URL, JSON, a shell or a header has to escape. */
export const CANARY_KEY = `c4n4ry-k%y/"w\\ith+sp&cial='s`;
export const CANARY_PASSWORD = `p@ss/w:rd%"'\\`;

/** Every form in which a secret may appear, by its name. */
export function formsOf(secret: string): ReadonlyMap<string, string> {
  const encoded = encodeURIComponent(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return new Map([
    ["as it is", secret],
    ["in a URL", encoded],
    ["in a URL, in small letters", encoded.replace(/%../g, (hex) => hex.toLowerCase())],
    ["in a URL's user part", new URL(`http://u:${encoded}@h`).password],
    ["in JSON", json],
    ["in JSON in JSON", JSON.stringify(json).slice(1, -1)],
    ["in SQL", secret.replaceAll("'", "''")],
    ["in an SQL string with escapes", secret.replaceAll("\\", "\\\\").replaceAll("'", "\\'")],
    // Without the digits that depend on the adjacent bytes.
    ...["", "x", "xy"].map(
      (before) => [`in Base64 behind ${before.length} bytes`, base64(before + secret).slice(4, -4)] as const,
    ),
    ["in hexadecimal", Buffer.from(secret).toString("hex")],
  ]);
}

/** Which secrets a text contains, and in which form. */
export function secretsIn(text: string): string[] {
  const secrets = { "the API key": CANARY_KEY, "the database password": CANARY_PASSWORD };
  return Object.entries(secrets).flatMap(([what, secret]) =>
    [...formsOf(secret)]
      .filter(([, form]) => text.toLowerCase().includes(form.toLowerCase()))
      .map(([how]) => `${what}, ${how}`),
  );
}

/** Every row of every table and view of simcat's, and the server's session list, as text. */
export async function dump(query: Query): Promise<string> {
  const relations = await query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname LIKE 'simcat%' AND c.relkind IN ('r', 'v', 'm')`,
  );
  const sources = [
    ...relations.map(({ name }) => `SELECT t::text AS row FROM ${name} t`),
    "SELECT t::text AS row FROM pg_stat_activity t WHERE datname = current_database()",
    "SELECT description AS row FROM pg_description WHERE objoid >= 16384",
  ];
  const rows: { row: string }[] = [];
  for (const sql of sources) rows.push(...(await query<{ row: string }>(sql)));
  return rows.map(({ row }) => row).join("\n");
}
