import { createLibraryName, createOwnerNames } from "./create-fields.ts";
import { createLibrary, MAX_LIBRARY_WORK_MINUTES } from "./create-library.ts";
import { UTC_DATES } from "./date-source.ts";
import { createRandom, type Random } from "./random.ts";
import type { MockLibrary, Organization } from "./types.ts";

interface OrganizationOptions {
  readonly seed: number;
  readonly libraries: number;
  /** On average: most libraries have few scenarios, a few have many. */
  readonly scenariosPerLibrary: number;
  /** No date is later. */
  readonly now: Date;
  /** Every library has exactly `scenariosPerLibrary`. */
  readonly even?: boolean;
}

const MINUTE_MS = 60_000;
const THREE_YEARS_MINUTES = 3 * 365 * 24 * 60;
const RECENT_MINUTES = 30 * 24 * 60;

/** Creates a lifelike organization. The same options give the same bytes. */
export function createOrganization(options: OrganizationOptions): Organization {
  const { seed, now, even = false } = options;
  const random = createRandom(seed);
  const owners = createOwnerNames(random, Math.min(150, Math.max(3, Math.floor(Math.sqrt(options.libraries)))));
  const timesUsed = new Map<string, number>();
  const libraries: MockLibrary[] = [];
  while (libraries.length < options.libraries) {
    const owner = pickOwner(random, owners);
    const name = numberDuplicates(timesUsed, owner, createLibraryName(random));
    const count = even ? options.scenariosPerLibrary : pickCount(random, options.scenariosPerLibrary);
    libraries.push(createLibrary(random, { owner, name }, count, pickDate(random, now), UTC_DATES));
  }
  return organizationOf(libraries);
}

/** The distribution is cubic: the first of fifty owners has a quarter of all libraries. */
function pickOwner(random: Random, owners: readonly string[]): string {
  const share = random.next();
  return owners[Math.floor(owners.length * share * share * share)] ?? "example.user";
}

/** Appends ` (2)` to the second library of a name, as file managers do. */
function numberDuplicates(timesUsed: Map<string, number>, owner: string, name: string): string {
  const key = `${owner}\n${name}`;
  const number = (timesUsed.get(key) ?? 0) + 1;
  timesUsed.set(key, number);
  return number === 1 ? name : `${name} (${number})`;
}

/** Library sizes: a fifth of the libraries has a tenth of the mean number of scenarios, and so on. The mean factor is 1. */
const SIZE_CLASSES = [
  { below: 0.2, factor: 0.1 },
  { below: 0.5, factor: 0.45 },
  { below: 0.75, factor: 0.85 },
  { below: 0.9, factor: 1.5 },
  { below: 0.97, factor: 3 },
  { below: 1, factor: 6.6 },
];

/** The number of scenarios of a library: its class's factor, plus or minus 30 %. */
function pickCount(random: Random, mean: number): number {
  const rank = random.next();
  const factor = SIZE_CLASSES.find((sizeClass) => rank < sizeClass.below)?.factor ?? 1;
  return Math.round(mean * factor * (0.7 + 0.6 * random.next()));
}

/** Three in ten dates are within the last 30 days, the others within three years. */
function pickDate(random: Random, now: Date): Date {
  const maxAgeMinutes = random.chance(0.3) ? RECENT_MINUTES : THREE_YEARS_MINUTES - MAX_LIBRARY_WORK_MINUTES;
  return new Date((Math.floor(now.getTime() / MINUTE_MS) - random.below(maxAgeMinutes)) * MINUTE_MS);
}

/** The length says where the owner ends, whatever characters the two names contain. */
const keyOf = (owner: string, name: string): string => `${owner.length}:${owner}${name}`;

/** Creates an organization that has exactly these libraries. */
export function organizationOf(libraries: Iterable<MockLibrary>): Organization {
  const byKey = new Map<string, MockLibrary>();
  for (const library of libraries) byKey.set(keyOf(library.owner, library.name), library);
  let version = 1;
  let list: readonly MockLibrary[] | null = null;
  function onChange(): void {
    version += 1;
    list = null;
  }
  return {
    removed: [],
    get size() {
      return byKey.size;
    },
    get version() {
      return version;
    },
    libraries() {
      list ??= [...byKey.values()];
      return list;
    },
    get: (owner, name) => byKey.get(keyOf(owner, name)),
    put(library) {
      byKey.set(keyOf(library.owner, library.name), library);
      onChange();
    },
    remove(owner, name) {
      const key = keyOf(owner, name);
      const library = byKey.get(key);
      if (byKey.delete(key)) onChange();
      return library;
    },
  };
}
