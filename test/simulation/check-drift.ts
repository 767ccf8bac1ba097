import { type Copy, copyText } from "./copies.ts";
import type { PerformedRun } from "./perform-run.ts";
import type { Seen } from "./reader.ts";

/** This many known scenarios prove drift by themselves (contract 3.1). */
const SHARED_SCENARIOS = 3;
/** At most this many other libraries are asked. */
const PEERS = 3;

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

const hasValue = (json: string | null | undefined, field: string) =>
  has(json, field) && JSON.parse(json ?? "{}")[field] !== null;

interface Loss {
  readonly field: string;
  /** The library is sufficient proof by itself. */
  readonly isProven: boolean;
  /** The tables have the field for this library, with a value. */
  readonly isStored: (copy: Copy | undefined) => boolean;
  readonly isSent: (told: Told) => boolean;
  /** The answer has what the tables have the field of. If it was removed, and stored first, nobody can be asked any more. */
  readonly isKept: (told: Told) => boolean;
  /** Proves drift if no other library has the field. */
  readonly isLarge: boolean;
}

/** What storing the answer would lose: a field of the stored scenarios that are part of it, or of all that it replaces. */
function lossesOf({ old, metadata, items }: Told): Loss[] {
  if (old === undefined) return [];
  const isReplaced = items.size > 0 && ![...old.scenarios.keys()].some((id) => items.has(id));
  const ofScenarios = SCENARIO_FIELDS.flatMap((field): Loss[] => {
    const having = [...old.scenarios].flatMap(([id, source]) => (has(source, field) ? [id] : []));
    const shared = having.filter((id) => items.has(id));
    const isOfAll = isReplaced && having.length > 0 && having.length === old.scenarios.size;
    const sent = shared.length > 0 ? shared.map((id) => items.get(id)) : [...items.values()];
    if (sent.some((item) => has(item, field)) || (shared.length === 0 && !isOfAll)) return [];
    const loss: Loss = {
      field,
      isProven: shared.length >= SHARED_SCENARIOS,
      isStored: (copy) => [...(copy?.scenarios.values() ?? [])].some((source) => hasValue(source, field)),
      isSent: (told) => [...told.items.values()].some((item) => has(item, field)),
      isKept: (told) =>
        [...(told.old?.scenarios ?? [])].some(([id, source]) => hasValue(source, field) && told.items.has(id)),
      isLarge: (shared.length || having.length) >= SHARED_SCENARIOS,
    };
    return [loss];
  });
  const isLost = (field: string) => metadata !== null && hasValue(old.metadata, field) && !has(metadata, field);
  const ofMetadata = METADATA_FIELDS.filter(isLost).map(
    (field): Loss => ({
      field: `${field} of the metadata`,
      isProven: false,
      isStored: (copy) => hasValue(copy?.metadata, field),
      isSent: (told) => has(told.metadata, field),
      isKept: () => true,
      isLarge: false,
    }),
  );
  return [...ofScenarios, ...ofMetadata];
}

/** Checks that a run kept each library that would have lost a field that no other answer has, and failed no others for it. */
export function checkDrift(
  { heard, others, isCompleted, failed, plan, listings }: PerformedRun,
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
  // A bad item may have the field, which only the program can see. After an edit, the last answer is not the one that was judged.
  if (isPartial || listings[0] !== listings[1]) return [];
  const wrong: string[] = [];
  const answers = new Map(told.map((one) => [one.key, one]));
  /** The other listed libraries whose stored rows have a value of the field. A library that returned may be one of them. */
  const peersOf = (one: Told, loss: Loss, isLive = (seen: Seen) => seen.live) =>
    [...before].flatMap(([key, seen]) =>
      key !== one.key && isLive(seen) && heard.listing?.keys.has(key) && loss.isStored(seen.copy) ? [key] : [],
    );
  const isShownBy = (loss: Loss) => (key: string) => {
    const answer = answers.get(key);
    return answer !== undefined && loss.isSent(answer);
  };
  const isWitness = (loss: Loss) => (key: string) => {
    const answer = answers.get(key);
    return answer === undefined || loss.isKept(answer);
  };
  /** Not only by the peers: another library may have been stored by this run before it was asked. */
  const isShownByOther = ({ key }: Told, loss: Loss) => told.some((other) => other.key !== key && loss.isSent(other));
  for (const one of told) {
    const losses = lossesOf(one);
    const drifts = losses.filter((loss) => {
      const mustFail = loss.isLarge || peersOf(one, loss).some(isWitness(loss));
      return loss.isProven || (mustFail && !isShownByOther(one, loss));
    });
    // Some of the peers may be read for other reasons, so it is not known which were asked. Removed ones are asked if they return.
    const mayFail = losses.some((loss) =>
      [() => true, (seen: Seen) => seen.live].some((isLive) => {
        const peers = peersOf(one, loss, isLive);
        const silent = peers.filter((key) => heard.content.has(key) && !isShownBy(loss)(key));
        return loss.isProven || (peers.length === 0 ? loss.isLarge : silent.length >= Math.min(PEERS, peers.length));
      }),
    );
    const [old, now] = [before.get(one.key), after.get(one.key)];
    const isOverwritten = old !== undefined && now !== undefined && copyText(old.copy) !== copyText(now.copy);
    if (isOverwritten && drifts[0])
      wrong.push(`drift: ${heard.run} overwrote ${one.key}, which lost ${drifts[0].field}`);
    // An answer that names another library says nothing about the peer that was asked.
    const isClear = plan.weather.content === 0 && plan.weather.swaps === 0 && !heard.aged;
    const isCertain = isCompleted && plan.accidents.length === 0 && isClear;
    if (isCertain && failed.get(one.key) === "drift" && !mayFail) {
      wrong.push(`drift: ${heard.run} failed ${one.key}, which lost ${losses.map(({ field }) => field).join()}`);
    }
  }
  return wrong;
}
