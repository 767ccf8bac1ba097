import { type Copy, copyText } from "./copies.ts";
import type { PerformedRun } from "./perform-run.ts";
import { keyOf, type Seen } from "./reader.ts";

/** The thresholds of the contract (3.1). The oracle compares the service's answers with the tables before the run. */
const SHARED_SCENARIOS = 3;
const ITEMS_OF_RUN = 20;
const LIBRARIES_OF_RUN = 3;

const SCENARIO_FIELDS = ["scenarioName", "isResult", "lastModified"];
const METADATA_FIELDS = [
  "libraryName",
  "libraryOwner",
  "lastModified",
  "fileSize",
  "packageName",
  "packageVersion",
  "description",
];

/** A library for which both answers were received. */
interface Told {
  readonly key: string;
  /** Content of the tables before the run; undefined if it was never stored. */
  readonly old: Copy | undefined;
  readonly metadata: string | null;
  readonly items: ReadonlyMap<string, string>;
}

const has = (json: string | null | undefined, field: string) => json != null && Object.hasOwn(JSON.parse(json), field);

/** Stored scenarios that have the field and are part of the answer. */
const sharedWith = ({ old, items }: Told, field: string) =>
  [...(old?.scenarios ?? [])].filter(([id, source]) => items.has(id) && has(source, field)).map(([id]) => id);

/** The library is sufficient proof by itself. */
const isProven = (told: Told, field: string) => {
  const shared = sharedWith(told, field);
  return shared.length >= SHARED_SCENARIOS && !shared.some((id) => has(told.items.get(id), field));
};

/** Storing the answer would lose the field, or all stored scenarios that have it. */
function wouldLose(told: Told, field: string): boolean {
  if (sharedWith(told, field).length > 0) return true;
  const before = [...(told.old?.scenarios ?? [])];
  const isReplaced = told.items.size > 0 && !before.some(([id]) => told.items.has(id));
  return isReplaced && before.length > 0 && before.every(([, source]) => has(source, field));
}

/** The libraries that must fail, each with its field, by the three rules. */
function drifting(told: readonly Told[]): Map<string, string> {
  const found = new Map<string, string>();
  const items = told.flatMap((one) => [...one.items.values()]);
  for (const field of SCENARIO_FIELDS) {
    const isGone = items.length >= ITEMS_OF_RUN && !items.some((item) => has(item, field));
    for (const one of told) {
      if (isProven(one, field) || (isGone && wouldLose(one, field))) found.set(one.key, field);
    }
  }
  const stored = told.filter((one) => one.old !== undefined && one.metadata !== null);
  for (const field of METADATA_FIELDS) {
    const losers = stored.filter((one) => has(one.old?.metadata, field));
    if (losers.length < LIBRARIES_OF_RUN || stored.some((one) => has(one.metadata, field))) continue;
    for (const { key } of losers) found.set(key, `${field} of the metadata`);
  }
  return found;
}

const GOOD_ENDS = ["ok", "partial", "held"];

/** Checks that a run with drift kept the libraries that would have lost the field, and failed no others for it. */
export function checkDrift(
  { heard, others, ended, plan, versions }: PerformedRun,
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
): string[] {
  if (others.length > 0) return [];
  let isPartial = false;
  const told = [...heard.content].flatMap(([key, { metadata, scenarios }]): Told[] => {
    if (metadata?.kind !== "metadata" || scenarios?.kind !== "scenarios") return [];
    isPartial ||= metadata.partial || scenarios.partial;
    return [{ key, old: before.get(key)?.copy, metadata: metadata.metadata, items: scenarios.items }];
  });
  // A bad item may have the field, which only the program can see.
  if (isPartial) return [];
  const wrong: string[] = [];
  const drifted = drifting(told);
  for (const [key, field] of drifted) {
    const [old, now] = [before.get(key), after.get(key)];
    if (old === undefined || now === undefined || copyText(old.copy) === copyText(now.copy)) continue;
    wrong.push(`drift: ${heard.run} overwrote ${key}, which lost ${field}`);
  }
  if (ended.report === null || !GOOD_ENDS.includes(ended.status)) return wrong;
  // After an edit between two reads of one library, the last answer differs from the one that was judged.
  if (versions[0] !== versions[1] || plan.accidents.length > 0) return wrong;
  const failed = ended.report.failures
    .filter(({ code }) => code === "drift")
    .map((one) => keyOf(one.key.owner, one.key.name));
  for (const key of failed) if (!drifted.has(key)) wrong.push(`drift: ${heard.run} failed ${key}, which lost nothing`);
  for (const [key, field] of drifted) {
    if (!failed.includes(key)) wrong.push(`drift: ${heard.run} did not fail ${key}, which lost ${field}`);
  }
  return wrong;
}
