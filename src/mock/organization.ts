import { UTC_DATES } from "./date-source.ts";
import { createLibrary, MAX_LIBRARY_WORK_MINUTES, MOCK_MINUTE_MS, type MockLibrary } from "./library.ts";
import { createRandom, type Random } from "./random.ts";
import { COURSES, FIRST_NAMES, LAST_NAMES, PLACES, THEMES } from "./vocabulary.ts";

/** All libraries of the service, in the order of the listing. */
export type Organization = ReturnType<typeof organizationOf>;

/** Creates an organization that has exactly these libraries. */
export function organizationOf(libraries: Iterable<MockLibrary>) {
  // The length says where the owner ends, whatever characters the two names contain.
  const keyOf = (owner: string, name: string) => `${owner.length}:${owner}${name}`;
  const byKey = new Map(Array.from(libraries, (library) => [keyOf(library.owner, library.name), library]));
  let list: readonly MockLibrary[] | null = null;
  const removed: MockLibrary[] = [];
  return {
    /** Libraries removed by an edit, which another edit may restore. */
    removed,
    get size() {
      return byKey.size;
    },
    /** Returns the same array until the next change. */
    libraries(): readonly MockLibrary[] {
      list ??= [...byKey.values()];
      return list;
    },
    get: (owner: string, name: string) => byKey.get(keyOf(owner, name)),
    /** Adds a library, or replaces the one with the same owner and name. */
    put(library: MockLibrary): void {
      byKey.set(keyOf(library.owner, library.name), library);
      list = null;
    },
    remove(owner: string, name: string): void {
      if (byKey.delete(keyOf(owner, name))) list = null;
    },
  };
}

type Numbers = Readonly<Record<"seed" | "libraries" | "scenariosPerLibrary", number>>;

/** Creates a lifelike organization, without dates after `now`. The same options give the same bytes. */
export function createOrganization(options: Numbers & { readonly now: Date }): Organization {
  const { seed, libraries, scenariosPerLibrary, now } = options;
  const random = createRandom(seed);
  const owners = createOwnerNames(random, Math.min(150, Math.max(3, Math.floor(Math.sqrt(libraries)))));
  const organization = organizationOf([]);
  while (organization.size < libraries) {
    const owner = pickOwner(random, owners);
    const name = createLibraryName(organization, owner, random);
    const count = pickCount(random, scenariosPerLibrary);
    organization.put(createLibrary(random, owner, name, count, pickDate(random, now), UTC_DATES));
  }
  return organization;
}

/** Different user names, `example.user` first. */
function createOwnerNames(random: Random, count: number): string[] {
  const names = new Set(["example.user"]);
  while (names.size < count) {
    const person = `${random.pick(FIRST_NAMES)}${random.chance(0.6) ? "-" : "."}${random.pick(LAST_NAMES)}`;
    names.add(names.has(person) ? `${person}${names.size}` : person);
  }
  return [...names].slice(0, count);
}

/** The distribution is cubic: the first of fifty owners has a quarter of all libraries. */
function pickOwner(random: Random, owners: readonly string[]): string {
  const share = random.next();
  return owners[Math.floor(owners.length * share * share * share)] ?? "example.user";
}

/** A name that the owner does not use yet: the second library of a name ends with ` (2)`, as in file managers. */
export function createLibraryName(organization: Organization, owner: string, random: Random): string {
  const title = createTitle(random);
  let name = title;
  for (let number = 2; organization.get(owner, name) !== undefined; number++) name = `${title} (${number})`;
  return name;
}

function createTitle(random: Random): string {
  const theme = random.pick(THEMES);
  const kind = random.below(20);
  if (kind < 12) {
    const place = random.pick(PLACES);
    return `${theme}${kind < 7 ? ` (${place})` : ` - ${place}`}${random.chance(0.2) ? " - Sample" : ""}`;
  }
  if (kind < 15) return `${theme} - ${random.between(5, 100)} timesteps - ${random.between(2, 40)} iterations`;
  if (kind < 18) return `${theme} ${random.between(1990, 2025)}-${random.between(2030, 2100)}`;
  return `${random.pick(COURSES)}Course${random.chance(0.5) ? "" : random.between(2, 30)}`;
}

/** Most libraries have few scenarios, a few have many: the mean of 0.1 + 3.6 × rank³ is 1. Plus or minus 30 %. */
function pickCount(random: Random, mean: number): number {
  const rank = random.next();
  return Math.round(mean * (0.1 + 3.6 * rank ** 3) * (0.7 + 0.6 * random.next()));
}

const THREE_YEARS_MINUTES = 3 * 365 * 24 * 60;
const RECENT_MINUTES = 30 * 24 * 60;

/** Three in ten dates are within the last 30 days, the others within three years. */
function pickDate(random: Random, now: Date): Date {
  const maxAgeMinutes = random.chance(0.3) ? RECENT_MINUTES : THREE_YEARS_MINUTES - MAX_LIBRARY_WORK_MINUTES;
  return new Date((Math.floor(now.getTime() / MOCK_MINUTE_MS) - random.below(maxAgeMinutes)) * MOCK_MINUTE_MS);
}
