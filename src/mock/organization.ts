import { createLibrary } from "./create-library.ts";
import { LONGEST_WORK_MINUTES } from "./create-scenarios.ts";
import { createLibraryName, createOwnerNames } from "./names.ts";
import type { MockLibrary, Organization } from "./nouns.ts";
import { organizationOf } from "./organization-of.ts";
import { createRandom, type Random } from "./random.ts";
import { createStamp, type Stamp } from "./stamp.ts";

export interface OrganizationOptions {
  readonly seed: number;
  readonly libraries: number;
  /** On average: most libraries have few scenarios, a few have many. */
  readonly scenariosPerLibrary: number;
  /** No date is later. */
  readonly now: Date;
  /** Every library has exactly `scenariosPerLibrary`. */
  readonly even?: boolean;
  /** How dates are written; its clock is not asked. */
  readonly stamp?: Stamp;
}

const MINUTE = 60_000;
const THREE_YEARS_MINUTES = 3 * 365 * 24 * 60;
const RECENT_MINUTES = 30 * 24 * 60;

/** A lifelike organization. The same options give the same bytes. */
export function createOrganization(options: OrganizationOptions): Organization {
  const { seed, now, even = false, stamp = createStamp() } = options;
  const random = createRandom(seed);
  const owners = createOwnerNames(random, Math.min(150, Math.max(3, Math.floor(Math.sqrt(options.libraries)))));
  const taken = new Map<string, number>();
  const libraries: MockLibrary[] = [];
  while (libraries.length < options.libraries) {
    const owner = pickOwner(random, owners);
    const name = numberRepeats(taken, owner, createLibraryName(random));
    const count = even ? options.scenariosPerLibrary : pickCount(random, options.scenariosPerLibrary);
    libraries.push(createLibrary(random, { owner, name }, count, pickDate(random, now), stamp));
  }
  return organizationOf(libraries);
}

/** A cube: the first of fifty owners has a quarter of all libraries. */
function pickOwner(random: Random, owners: readonly string[]): string {
  const share = random.next();
  return owners[Math.floor(owners.length * share * share * share)] ?? "example.user";
}

/** The second one of a name gets ` (2)`, as a desktop does it. */
function numberRepeats(taken: Map<string, number>, owner: string, name: string): string {
  const key = `${owner}\n${name}`;
  const times = (taken.get(key) ?? 0) + 1;
  taken.set(key, times);
  return times === 1 ? name : `${name} (${times})`;
}

const SHARES = [
  { below: 0.2, factor: 0.1 },
  { below: 0.5, factor: 0.45 },
  { below: 0.75, factor: 0.85 },
  { below: 0.9, factor: 1.5 },
  { below: 0.97, factor: 3 },
  { below: 1, factor: 6.6 },
];

/** The factors average to one, and so does the jitter around each. */
function pickCount(random: Random, mean: number): number {
  const place = random.next();
  const factor = SHARES.find((share) => place < share.below)?.factor ?? 1;
  return Math.round(mean * factor * (0.7 + 0.6 * random.next()));
}

/** Spread over three years, with three in ten within the last month. */
function pickDate(random: Random, now: Date): Date {
  const oldest = random.chance(0.3) ? RECENT_MINUTES : THREE_YEARS_MINUTES - LONGEST_WORK_MINUTES;
  return new Date((Math.floor(now.getTime() / MINUTE) - random.below(oldest)) * MINUTE);
}
