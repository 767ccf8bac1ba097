import { max } from "d3-array";
import { utcDay } from "d3-time";
import { byteUnitFor, formatBytes, formatCount, formatLibraries, plural } from "../../format.ts";
import { DAY_MS } from "../../units.ts";
import { lineChart } from "../charts.ts";
import { type Column, formatDay, formatMinute } from "../html/elements.ts";
import { html } from "../html/html.ts";
import { knownEndOf, OF_OWNERS, periodOf } from "./facts.ts";
import { type FactsAnd, note, numbersTable, type Section } from "./section.ts";

const QUANTITIES = [
  { title: "libraries", name: "libraries", format: formatCount },
  { title: "stored", name: "bytes", format: formatBytes },
  { title: "parents", name: "parents", format: formatCount },
  { title: "results", name: "results", format: formatCount },
  { title: "active libraries", name: "active", format: formatCount },
  { title: "stale libraries", name: "stale", format: formatCount },
] as const;

/** A snapshot. Those of earlier versions have no active and stale libraries. */
interface GrowthRow extends Readonly<Record<"libraries" | "bytes" | "parents" | "results" | "sizesUnread", number>> {
  readonly day: Date;
  readonly active: number | null;
  readonly stale: number | null;
  /** The content that a run read first after this snapshot, although it was listed when the history began: it was not added. */
  readonly readLater: Readonly<Record<"libraries" | "scenarios" | "bytes", number>>;
  /** Whether all events since then are there: from the start of the history, and from the last prune that deleted events. */
  readonly hasEvents: boolean;
}

/** Those of a snapshot, or of the present. */
type Amounts = Pick<GrowthRow, "day" | (typeof QUANTITIES)[number]["name"]>;

type GrowthRows = FactsAnd<{ growth: GrowthRow }>;

/** What came and went since a snapshot. */
const changeSince = ({ readLater, ...from }: GrowthRow, { libraries: to }: GrowthRows) => ({
  libraries: to.libraries - from.libraries - readLater.libraries,
  scenarios: to.parents + to.results - from.parents - from.results - readLater.scenarios,
  bytes: to.bytes - from.bytes - readLater.bytes,
});

const CARD_DAYS = 30;

/** The changes of the key figures in the last 30 days that are known, as `+12 in 30 days`; since the first snapshot if that is later. */
export function recentGrowth(rows: GrowthRows) {
  const end = knownEndOf(rows);
  const from = new Date(end.at.getTime() - CARD_DAYS * DAY_MS);
  const known = rows.growth.filter(({ hasEvents }) => hasEvents);
  const start = known.findLast(({ day }) => day <= from) ?? known[0];
  if (start === undefined || known.length < 2) return { libraries: null, scenarios: null, bytes: null };
  const since = `since ${formatDay(start.day)}`;
  const recent = utcDay.count(start.day, rows.now) === CARD_DAYS ? `in ${CARD_DAYS} days` : since;
  const time = end.until === "" ? recent : periodOf(start.day, since, end);
  const format = (by: number, formatAmount: (amount: number) => string) =>
    `${by < 0 ? "\u2212" : by > 0 ? "+" : "±"}${formatAmount(Math.abs(by))} ${time}`;
  const { libraries, scenarios, bytes } = changeSince(start, rows);
  return {
    libraries: format(libraries, formatCount),
    scenarios: format(scenarios, formatCount),
    // A size that became known, or unknown, is no change of the storage.
    bytes: start.sizesUnread === rows.libraries.sizesUnread ? format(bytes, formatBytes) : null,
  };
}

/** The daily snapshots. Two days make a line; one is printed as numbers. */
export const growthSection: Section<{ growth: GrowthRow }> = {
  id: "growth",
  isWide: true,
  queries: {
    /** The last two years. On a day on which an owner had no row, this owner had nothing. */
    growth: `
WITH loaded AS MATERIALIZED (
  SELECT run_id, sum(library_change) AS libraries, sum(scenario_change) AS scenarios, sum(byte_change) AS bytes
  FROM simcat_report.events WHERE ${OF_OWNERS} AND kind = 'loaded' GROUP BY run_id
)
SELECT day::timestamp AT TIME ZONE 'UTC' AS day, sum(libraries * shown)::float8 AS libraries, sum(parents * shown)::float8 AS parents,
  sum(results * shown)::float8 AS results, sum(bytes * shown)::float8 AS bytes, sum(sizes_unread * shown)::float8 AS "sizesUnread",
  sum(active * shown)::float8 AS active, sum(stale * shown)::float8 AS stale,
  max(taken_at) >= coalesce((SELECT max(cutoff) FROM simcat_report.prune_history WHERE events), '-infinity')
    AND max(d.run_id) >= (SELECT min(run_id) FROM simcat_report.run_history WHERE saw_everything) IS TRUE AS "hasEvents",
  (SELECT json_build_object('libraries', coalesce(sum(l.libraries), 0), 'scenarios', coalesce(sum(l.scenarios), 0),
      'bytes', coalesce(sum(l.bytes), 0)) FROM loaded l WHERE l.run_id > max(d.run_id)) AS "readLater"
FROM (SELECT *, (${OF_OWNERS})::int AS shown FROM simcat_report.daily_owners) AS d WHERE day > (now() AT TIME ZONE 'UTC')::date - 731 GROUP BY day ORDER BY day`,
  },
  finding(rows) {
    const [recorded] = rows.growth;
    if (recorded === undefined && rows.libraries.libraries === 0) return null;
    if (recorded === undefined) return "Growth is not recorded yet: the first good run of each day (UTC) records it";
    const [first, second] = rows.growth.filter(({ hasEvents }) => hasEvents);
    if (first === undefined || second === undefined) return `Growth is recorded since ${formatDay(recorded.day)}`;
    const time = periodOf(first.day, `since ${formatDay(first.day)}`, knownEndOf(rows));
    const { libraries, scenarios } = changeSince(first, rows);
    const moreLibraries = difference(libraries, "library", "libraries");
    const moreScenarios = difference(scenarios, "scenario", "scenarios");
    if (moreLibraries !== null && moreScenarios !== null) return `${moreLibraries} and ${moreScenarios} ${time}`;
    if (moreLibraries !== null) return `${moreLibraries} ${time}, and as many scenarios`;
    const asMany = `As many libraries${moreScenarios === null ? " and scenarios" : ""} ${time.replace("since", "as on")}`;
    return moreScenarios === null ? asMany : `${asMany}, and ${moreScenarios}`;
  },
  figure({ growth, ...facts }) {
    const [first] = growth;
    if (first === undefined) return null;
    if (growth.length === 1) {
      const { libraries, parents, results, bytes } = first;
      const text = `${formatLibraries(libraries)}, ${plural(parents, "parent")}, ${plural(results, "result")}, ${formatBytes(bytes)}`;
      return note(`The first snapshot: ${text}. The first good run of each day adds one.`);
    }
    // A cached listing is of an earlier time than the snapshot of its run.
    const { at } = knownEndOf(facts);
    const isBeforeLast = growth.some(({ day }) => day > at);
    const present: Amounts = { ...facts.libraries, day: isBeforeLast ? facts.now : at };
    const all = [...growth, present];
    const panels = QUANTITIES.map(({ title, name, format }) => {
      const known = all.flatMap(({ day: at, [name]: amount }) => (amount === null ? [] : [{ at, amount }]));
      const last = format(known.at(-1)?.amount ?? 0);
      const largest = max(known, ({ amount }) => amount) ?? 0;
      const { unit, size } = format === formatBytes ? byteUnitFor(largest) : { unit: null, size: 1 };
      return html`<figure>${lineChart({
        label: `${title} by day, from ${formatDay(first.day)}: now ${last}`,
        unit: unit === null ? title : `${title}, ${unit}`,
        from: first.day,
        to: facts.now,
        points: known.map(({ at, amount }) => ({ at, amount: amount / size })),
        // A day and a part of a day: from the last snapshot to the present.
        maxStepMs: 2 * DAY_MS - 1,
        last,
      })}</figure>`;
    });
    // Few enough rows to read or to listen to, for readers who do not see the picture.
    const step = Math.ceil(all.length / 32);
    const rows = all.filter((row, index) => index % step === 0 || row === present);
    const remark = step === 1 ? null : note(`The first snapshot, one in ${step} of the others, and the last one.`);
    const quantities = QUANTITIES.map(({ title, name, format }): Column<Amounts> => {
      return [title, ({ [name]: amount }) => (amount === null ? "" : format(amount)), "number"];
    });
    const late = first.readLater.libraries;
    return html`<div class="panels">${panels}</div>
${note(
  "One snapshot per day (UTC), by the first good run, and the present. Shaded: unknown. Libraries of unknown size are not in the storage.",
  late === 0
    ? null
    : ` ${plural(late, "library was", "libraries were")} listed from the start and first read after ${formatDay(first.day)}: not counted as new.`,
)}
${numbersTable(rows, [["day (UTC)", (row) => (row === present ? formatMinute(row.day) : formatDay(row.day))], ...quantities], remark)}`;
  },
};

/** `12 more libraries`, `1 fewer scenario`; null for no difference. */
function difference(by: number, one: string, many: string): string | null {
  const word = by < 0 ? "fewer" : "more";
  return by === 0 ? null : plural(Math.abs(by), `${word} ${one}`, `${word} ${many}`);
}
