import type { DateSource } from "../../src/mock/date-source.ts";
import type { Organization } from "../../src/mock/organization.ts";
import type { Random } from "../../src/mock/random.ts";
import type { LibraryKey } from "../../src/model.ts";
import { EDITS, type EditName } from "../support/mock/edits.ts";
import { changeLibrary, type MockLibrary } from "../support/mock/library.ts";
import { ODD_EDITS } from "./odd-edits.ts";
import { keyOf } from "./reader.ts";

/** A library as the service had it for some time. Times are the database's, in ms since the epoch. */
interface Version {
  readonly library: MockLibrary;
  readonly from: number;
  /** Infinity while the service has it. */
  until: number;
}

export interface EditOptions {
  readonly organization: Organization;
  /** The database's clock, in ms since the epoch. */
  readonly now: () => number;
  readonly random: Random;
  readonly dateSource: DateSource;
  readonly note: (line: string) => void;
}

const OF_SCENARIOS = ["runParent", "addParent", "editScenario", "deleteScenario"] as const;
const COMMON: readonly EditName[] = [...OF_SCENARIOS, "editMetadata", "editTwice"];
const OF_LIBRARIES = ["addLibrary", "removeLibrary", "restoreLibrary", "renameLibrary", "moveLibrary"] as const;
const RARE: readonly EditName[] = ["restoreScenario", ...OF_LIBRARIES, "uploadBackdated", "editSilently"];
const MOST_LIBRARIES = 36;

export type EditHistory = ReturnType<typeof openEditHistory>;

/** Edits the service, and records what it had when, and the changes that its dates do not reveal. */
export function openEditHistory({ organization, now, random, dateSource, note }: EditOptions) {
  const undated = new Set<string>();
  const versions = new Map<string, readonly Version[]>();
  const versionsOf = (key: string) => versions.get(key) ?? [];

  function addVersion(library: MockLibrary): void {
    const version = { library, from: now(), until: Number.POSITIVE_INFINITY };
    versions.set(keyOf(library), [...versionsOf(keyOf(library)), version]);
  }
  for (const library of organization.libraries()) addVersion(library);

  /** Each difference is a version; its date reveals it if it equals the current date of the service's clock. */
  function record(before: readonly MockLibrary[]): void {
    for (const library of before) {
      const last = versionsOf(keyOf(library)).at(-1);
      if (last !== undefined && organization.get(library.owner, library.name) !== library) last.until = now();
    }
    const known = new Set(before);
    for (const library of organization.libraries()) {
      if (known.has(library)) continue;
      const key = keyOf(library);
      if (library.lastModified !== currentDate() && versions.has(key)) undated.add(key);
      addVersion(library);
    }
  }

  function emptyOut(library: MockLibrary): string {
    const kept = random.below(3);
    organization.put({ ...library, scenarios: library.scenarios.slice(0, kept), lastModified: currentDate() });
    return `left ${kept} scenarios of ${library.owner}/${library.name}`;
  }

  let away: readonly MockLibrary[] = [];
  let instead: readonly MockLibrary[] = [];

  /** New ones the first time; then the two sets alternate. */
  function swapSets(share: number): string {
    const libraries = organization.libraries();
    const [donor] = libraries;
    const isFirst = away.length === 0;
    const leaving = isFirst
      ? libraries.slice(1, 1 + Math.ceil(share * libraries.length))
      : instead.flatMap(({ owner, name }) => organization.get(owner, name) ?? []);
    if (donor === undefined || leaving.length === 0) return "nothing to swap";
    const length = Math.min(MOST_LIBRARIES, 4 * leaving.length);
    const fresh = (_: unknown, at: number): MockLibrary => ({ ...donor, name: `Swap ${at}`, scenarios: [] });
    instead = isFirst ? Array.from({ length }, fresh) : away;
    away = leaving;
    for (const { owner, name } of leaving) organization.remove(owner, name);
    for (const library of instead) organization.put(library);
    return `swapped ${leaving.length} libraries for ${instead.length}`;
  }

  /** Makes an edit, notes its description and records its effect. */
  function apply(edit: () => string): void {
    const before = organization.libraries();
    note(`      edit: ${edit()}`);
    record(before);
  }
  const currentDate = () => dateSource.text(dateSource.now());

  function editOnce(near: MockLibrary | undefined): string {
    const before = organization.libraries();
    const library = near ?? (before.length > 0 ? random.pick(before) : undefined);
    if (library === undefined || (random.chance(0.05) && before.length < MOST_LIBRARIES)) {
      return EDITS.addLibrary(organization, library ?? { owner: "example.user" }, random, dateSource);
    }
    if (random.chance(0.04)) return emptyOut(library);
    if (random.chance(0.2)) return random.pick(ODD_EDITS)(organization, library, random, dateSource);
    const name = random.pick(random.chance(0.75) ? COMMON : RARE);
    return `${name}: ${EDITS[name](organization, library, random, dateSource)}`;
  }

  return {
    /** Libraries with a change since they were last known to be equal whose date is not the moment of the change. */
    undated,
    /** Every version of each library, the oldest first. */
    versions,
    /** The earlier contents of each library. */
    earlier: (key: string) =>
      versionsOf(key).flatMap(({ library, until }) => (Number.isFinite(until) ? [library] : [])),
    edit: (near: MockLibrary | undefined) => apply(() => editOnce(near)),
    /** Replaces this share of the libraries with many new ones at once; later calls switch between the two sets. */
    swap: (share: number) => apply(() => swapSets(share)),
    /** Restores all fields of the library's metadata and scenarios. */
    restoreFields: ({ owner, name }: LibraryKey) =>
      apply(() => {
        const library = organization.get(owner, name);
        if (library === undefined) return `${owner}/${name} is gone`;
        const scenarios = library.scenarios.map((one) => ({ ...one, fields: {} }));
        changeLibrary(organization, owner, name, { scenarios, metadataFields: {}, lastModified: currentDate() });
        return `all fields of ${owner}/${name} are back`;
      }),
  };
}
