import type { Random } from "../../src/mock/random.ts";
import type { LibraryKey } from "../../src/model.ts";
import type { RunKind, Selection } from "../../src/run-summary.ts";
import { EVERYTHING } from "../support/listing.ts";
import type { Interference } from "./gated-pool.ts";
import { keyOf } from "./reader.ts";
import { CALM, type Weather } from "./sim-service.ts";
import { MINUTE, SECOND, type World } from "./world.ts";

/** An accident of a run at its nth statement. */
export type Accident =
  | Exclude<Interference, { kind: "none" }>
  /** Paused past its lease; another run takes over, and then it resumes. */
  | { readonly kind: "overtaken" }
  /** Another run starts at the same time. */
  | { readonly kind: "joined" }
  /** SIGTERM. */
  | { readonly kind: "stop" }
  /** Postgres ends all sessions. */
  | { readonly kind: "restart" };

export interface RunPlan {
  readonly kind: RunKind;
  readonly allowRemovals: boolean;
  readonly restart: boolean;
  readonly selection: Selection;
  readonly weather: Weather;
  readonly accidents: readonly { readonly at: number; readonly what: Accident }[];
  /** The database refuses the rows of this library in this table during the run. */
  readonly poison: Poison | null;
}

export interface Poison {
  /** As `keyOf` writes it. */
  readonly key: string;
  readonly table: string;
  /** The SQLSTATE that a trigger raises. */
  readonly state: string;
}

export const QUIET: RunPlan = {
  kind: "sync",
  allowRemovals: false,
  restart: false,
  selection: EVERYTHING,
  weather: CALM,
  accidents: [],
  poison: null,
};

export function drawRun(world: World, random: Random, keys: readonly LibraryKey[]): RunPlan {
  const weather = drawWeather(world, random, keys);
  const isBackfill = random.chance(weather.drift ? 0.6 : 0.15);
  return {
    ...QUIET,
    kind: isBackfill ? "backfill" : "sync",
    allowRemovals: random.chance(0.08),
    restart: isBackfill && random.chance(weather.drift ? 0.9 : 0.3),
    selection: keys.length > 0 && random.chance(0.1) ? drawSelection(random, keys) : EVERYTHING,
    weather,
    accidents: random.chance(0.55) ? [] : Array.from({ length: random.between(1, 2) }, () => drawAccident(random)),
    poison: keys.length > 0 && random.chance(0.25) ? drawPoison(random, keys) : null,
  };
}

function drawSelection(random: Random, keys: readonly LibraryKey[]): Selection {
  const key = random.pick(keys);
  const libraries = [key, random.pick(keys)].map(({ owner, name }) => ({ owner, name }));
  return random.pick<Selection>([
    { libraries: libraries.slice(1), owners: [] },
    { libraries, owners: [] },
    { libraries: [], owners: [key.owner] },
    { libraries: libraries.slice(1), owners: [key.owner] },
  ]);
}

const DRIFTS = [
  { what: "scenarios", field: "scenarioName" },
  { what: "scenarios", field: "scenarioName" },
  { what: "scenarios", field: "isResult" },
  { what: "scenarios", field: "lastModified" },
  { what: "metadata", field: "fileSize" },
  { what: "metadata", field: "description" },
  { what: "metadata", field: "libraryOwner" },
] as const;

function drawWeather({ isSlow }: World, random: Random, keys: readonly LibraryKey[]): Weather {
  const drift = random.chance(0.07) ? random.pick(DRIFTS) : null;
  const swaps = drift === null && random.chance(0.1) ? random.pick([0.2, 0.6]) : 0;
  const isBad = drift === null && swaps === 0 && random.chance(0.45);
  return {
    ...CALM,
    listing: random.chance(0.2) ? 0.7 : 0,
    content: isBad ? random.pick([0.05, 0.15, 0.5]) : 0,
    edits: random.chance(0.4) ? random.pick([0.05, 0.2, 0.5]) : 0,
    slowness: isSlow ? random.pick([SECOND, 30 * SECOND, 3 * MINUTE]) : SECOND,
    drift,
    swaps,
    broken: keys.length > 0 && random.chance(0.06) ? keyOf(random.pick(keys)) : null,
  };
}

function drawPoison(random: Random, keys: readonly LibraryKey[]): Poison {
  return {
    key: keyOf(random.pick(keys)),
    table: random.pick(["libraries", "scenarios", "scenarios", "library_sync", "library_sync", "rejects"]),
    state: random.pick(["P0001", "57014", "55P03", "XX000", "XX001", "23514", "42501"]),
  };
}

function drawAccident(random: Random): { at: number; what: Accident } {
  const at = random.chance(0.5) ? random.below(20) : random.below(70);
  const what = random.pick<Accident>([
    { kind: "die", when: "before" },
    { kind: "die", when: "before" },
    { kind: "die", when: "after" },
    { kind: "die", when: "after" },
    { kind: "terminate" },
    { kind: "loseAnswer" },
    { kind: "loseAnswer" },
    {
      kind: "refuse",
      code: random.pick(["40P01", "40001", "55P03", "53100", "57014", "XX000", "22P02", "25006", "42501", "53300"]),
    },
    { kind: "overtaken" },
    random.chance(0.25) ? { kind: "restart" } : { kind: "joined" },
    { kind: "stop" },
  ]);
  return { at, what };
}
