import type { StatusRows } from "../db/read/read-status.ts";
import { formatCount } from "./amounts.ts";
import { formatMoment } from "./moments.ts";
import { nextStep } from "./next-step.ts";
import { formatFailing, formatRejects, formatRuns } from "./status-tables.ts";

/** The status for people, in lines of `columns` at the most where they are tables. */
export function formatStatus(rows: StatusRows, columns: number): string {
  if (rows.runs.length === 0) return `no run yet\nnext: ${nextStep(rows)}`;
  const tables = [formatRuns(rows, columns), formatFailing(rows, columns), formatRejects(rows, columns)];
  return [formatFreshness(rows), ...tables.filter((table) => table !== null), `next: ${nextStep(rows)}`].join("\n\n");
}

function formatFreshness({ now, lastGoodRun, libraries, scenarios }: StatusRows): string {
  const { live, settled, removed, neverStored, oldestContentReadAt } = libraries;
  const good =
    lastGoodRun === null
      ? "none yet"
      : `run ${lastGoodRun.id} (${lastGoodRun.status}), ${formatMoment(lastGoodRun.startedAt, now)}`;
  const others = [`${formatCount(removed)} removed`];
  if (neverStored > 0) others.push(`${formatCount(neverStored)} listed and never stored`);
  return [
    `last good run  ${good}`,
    `libraries      ${formatCount(live)} live, ${others.join(", ")}`,
    `dates          ${formatCount(settled)} settled, ${formatCount(live - settled)} not settled yet`,
    `scenarios      ${formatCount(scenarios)} live`,
    `oldest read    ${formatMoment(oldestContentReadAt, now)}`,
  ].join("\n");
}
