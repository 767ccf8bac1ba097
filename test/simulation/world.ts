import type { MEMORY_LIMITS } from "../../src/db/store/scenario-buffer.ts";
import type { DateSource } from "../../src/mock/date-source.ts";
import { createScenarios } from "../../src/mock/library.ts";
import type { Random } from "../../src/mock/random.ts";
import { createDateSource, type DateFormat } from "../support/mock/date-source.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { AWKWARD_NAMES, library } from "../support/organization.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The format in which a seed's service writes dates; `unknown` is a format that simcat does not know, `none` has no date. */
type Dates = DateFormat | "unknown" | "none";

/** The properties of a seed that do not change while it plays. */
export interface World {
  /** By the database's clock, in ms since the epoch. */
  readonly startsAt: number;
  /** How far the service's clock is ahead of the database's. */
  readonly skew: number;
  readonly zone: string;
  readonly dates: Dates;
  readonly concurrency: number;
  readonly maxRetries: number;
  readonly fullEveryMs: number;
  readonly maxRemovedPercent: number;
  /** Typical time between two runs. */
  readonly pollMs: number;
  readonly steps: number;
  readonly hasDateHeader: boolean;
  /** Whether requests sometimes take minutes. */
  readonly isSlow: boolean;
  /** Small values send scenario lists through the staging table. */
  readonly memory: Partial<typeof MEMORY_LIMITS>;
}

const AUTUMN = Date.parse("2024-10-26T22:00:00Z");
const SPRING = Date.parse("2024-03-30T22:00:00Z");
const SUMMER = Date.parse("2024-07-01T09:59:30Z");

const SKEWS = [0, 0, 3 * SECOND, -3 * SECOND, 90 * SECOND, -90 * SECOND, HOUR, -5 * HOUR, -400 * DAY, 400 * DAY];
const GRAINS = ["seconds", "milliseconds", "day", "ticks", "unknown", "none"] as const;
const DATES: readonly Dates[] = ["minute", "minute", "minute", ...GRAINS];

export function drawWorld(random: Random): World {
  const dates = random.pick(DATES);
  return {
    startsAt: random.pick([AUTUMN, AUTUMN, SPRING, SUMMER]) + random.below(3 * HOUR),
    skew: random.pick(SKEWS),
    zone: random.pick(["UTC", "Europe/Berlin", "Europe/Berlin", "America/Vancouver", "+05:30", "+14:00", "-12:00"]),
    dates,
    concurrency: random.between(1, 8),
    maxRetries: random.below(3),
    fullEveryMs: random.pick([12 * HOUR, 2 * DAY, 7 * DAY, 30 * DAY]),
    maxRemovedPercent: random.pick([30, 30, 50, 100]),
    pollMs: random.pick([30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, DAY, 3 * DAY]),
    steps: random.between(3, 10),
    hasDateHeader: random.chance(0.85),
    isSlow: random.chance(0.3),
    memory: random.pick([
      {},
      {},
      { itemsOfList: 3, itemsAtOnce: 2 },
      { bytes: 4_000, itemsOfList: 10_000, itemsAtOnce: 3 },
    ]),
  };
}

/** Writes the dates of the service's edits in its format, by a clock that shows its own time. */
export function dateSourceOf({ dates, zone }: World, clock: () => Date): DateSource {
  if (dates === "none") return { ...createDateSource({ clock, zone }), text: () => "" };
  if (dates !== "unknown") return createDateSource({ clock, format: dates, zone });
  const known = createDateSource({ clock, format: "day", zone });
  return { ...known, text: (date) => `the day ${known.text(date)}` };
}

/** A few libraries, most of them unchanged for a long time. */
export function drawLibraries(random: Random, dateSource: DateSource): MockLibrary[] {
  const count = random.pick([0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30]);
  const owners = ["example.user", "O'Brien/2", "мария"].slice(0, random.between(1, 3));
  const libraries = new Map<string, MockLibrary>();
  while (libraries.size < count) {
    const owner = random.pick(owners);
    const name = random.chance(0.5) ? random.pick(AWKWARD_NAMES) : `Library ${random.below(1000)}`;
    const isLong = random.chance(0.2);
    const age = random.chance(0.5) ? random.below(3 * HOUR) : random.below(900 * DAY);
    const modifiedAt = new Date(dateSource.now().getTime() - age);
    const size = isLong ? random.between(9, 14) : random.below(5);
    const scenarios = createScenarios(random, size, modifiedAt, dateSource);
    const lastModified = dateSource.text(modifiedAt);
    libraries.set(`${owner}\0${name}`, library(owner, name, { lastModified, scenarios }));
  }
  return [...libraries.values()];
}

/** Adds libraries of other owners with the same names; the metadata of some names the other owner. */
export function addNamesakes(libraries: readonly MockLibrary[], random: Random): readonly MockLibrary[] {
  const owners = [...new Set(["example.user", "O'Brien/2", ...libraries.map(({ owner }) => owner)])];
  const all = new Map(libraries.map((one) => [`${one.owner}\0${one.name}`, one]));
  for (const library of libraries.slice(0, random.between(1, 5))) {
    const owner = random.pick(owners.filter((one) => one !== library.owner));
    const other = all.get(`${owner}\0${library.name}`) ?? { ...library, owner, scenarios: library.scenarios.slice(1) };
    const isForeign = random.chance(0.5);
    all.set(`${owner}\0${library.name}`, { ...other, libraryOwner: isForeign ? library.owner : owner });
  }
  return [...all.values()];
}
