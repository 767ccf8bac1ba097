import { keyOf } from "./reader.ts";
import type { Simulation } from "./simulation.ts";

interface Row {
  owner: string;
  name: string;
  listed: string | null;
  bookmark: string | null;
  reread_reason: string | null;
  failures: number;
  error: string | null;
}

/** Checks that `library_sync`, after a full read without faults, reports everything as listed and nothing as owed. */
export async function checkBookkeeping({ server, service }: Simulation): Promise<string[]> {
  const rows = await server.control.query<Row>(
    `SELECT owner, library_name AS name, listed_text AS listed, bookmark, reread_reason, failures, last_error AS error FROM simcat.library_sync`,
  );
  const known = new Map(rows.map((row) => [keyOf(row.owner, row.name), row]));
  const wrong: string[] = [];
  for (const { owner, name, lastModified } of service.organization.libraries()) {
    const key = keyOf(owner, name);
    const found = known.get(key);
    const expected = {
      owner,
      name,
      listed: lastModified,
      bookmark: lastModified,
      reread_reason: null,
      failures: 0,
      error: null,
    };
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      wrong.push(`bookkeeping: ${key} has ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
    }
  }
  return wrong;
}
