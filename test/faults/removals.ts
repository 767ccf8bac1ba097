import type { Fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

/** Libraries of one owner, called `lib` and a number. */
export const libraries = (owner: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => library(owner, `lib ${from + at}`, { scenarios: [1] }));

export function drop({ service }: Fixture, owner: string, from: number, to: number): void {
  for (let at = from; at < to; at++) service.remove(owner, `lib ${at}`);
}

export const put = ({ service }: Fixture, owner: string, from: number, to: number) =>
  service.put(...libraries(owner, from, to));

/** The number of live libraries of each owner. */
export async function live({ query }: Fixture): Promise<Record<string, number>> {
  const rows = await query<{ owner: string; live: number }>(
    "SELECT owner, count(*)::int AS live FROM simcat.libraries WHERE removed_at IS NULL GROUP BY 1 ORDER BY 1",
  );
  return Object.fromEntries(rows.map(({ owner, live }) => [owner, live]));
}
