import type { PerformedRun } from "./perform-run.ts";
import type { Simulation } from "./simulation.ts";

interface Written {
  inserted: number;
  changed: number;
  removed: number;
  libraries: number;
}

/** The rows that a run wrote last according to the tables: each row's newest version has the id of its run. */
const WRITTEN = `
SELECT count(*) FILTER (WHERE changed_at = first_seen_at)::int4 AS inserted, count(*)::int4 AS changed,
  count(*) FILTER (WHERE removed_at IS NOT NULL)::int4 AS removed,
  (SELECT count(*)::int4 FROM simcat.libraries WHERE run_id = $1 AND removed_at IS NOT NULL) AS libraries
FROM simcat.scenarios WHERE run_id = $1`;

/** Checks that a finished run reported the numbers of rows that it wrote. */
export async function checkCounts({ server }: Simulation, { ended, others }: PerformedRun): Promise<string[]> {
  const { summary } = ended;
  if (summary === null || others.length > 0 || !["ok", "partial", "held"].includes(summary.status)) return [];
  const [found] = await server.control.query<Written>(WRITTEN, [summary.id]);
  const { scenariosInserted: inserted, scenariosUpdated: updated, scenariosRemoved: removed } = summary.counts;
  const told = { inserted, changed: inserted + updated + removed, removed, libraries: summary.counts.librariesRemoved };
  if (JSON.stringify(found) === JSON.stringify(told)) return [];
  return [`counts: run ${summary.id} told ${JSON.stringify(told)} and wrote ${JSON.stringify(found)}`];
}
