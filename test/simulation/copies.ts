import { canonical, type Said } from "./answers.ts";

/** The stored content of one library. */
export interface Copy {
  /** Canonical JSON; null if its metadata was never readable. */
  readonly metadata: string | null;
  /** Live scenarios: canonical JSON by id. */
  readonly scenarios: ReadonlyMap<string, string>;
  /** The scenarios that a shrunk list lacked, with the run of that list. */
  readonly lacking: ReadonlyMap<string, string>;
}

/** A read whose two answers have both been delivered. */
export interface Read {
  readonly run: string;
  readonly metadata: Extract<Said, { kind: "metadata" }>;
  readonly scenarios: Extract<Said, { kind: "scenarios" }>;
  /** The listing's own entry was not readable. */
  readonly isEntryBad: boolean;
  readonly allowRemovals: boolean;
  /** A suspect read confirms nothing. */
  readonly isSuspect: boolean;
}

/** From this number of scenarios on, a list that shrinks too much waits for a second read. */
const TELLING = 10;

/** The copy to be stored when this read is applied to that copy (contract 3.1 and 3.4). */
export function store(copy: Copy | null, read: Read, maxRemovedPercent: number): Copy {
  const { items } = read.scenarios;
  const isPartial = read.metadata.partial || read.scenarios.partial || read.isEntryBad;
  const metadata = read.metadata.metadata ?? copy?.metadata ?? null;
  if (copy === null) return { metadata, scenarios: items, lacking: new Map() };
  const missing = [...copy.scenarios.keys()].filter((id) => !items.has(id));
  const merged = (without: readonly string[]) => {
    const gone = new Set(without);
    return new Map([...[...copy.scenarios].filter(([id]) => !gone.has(id)), ...items]);
  };
  if (isPartial) return { metadata, scenarios: merged([]), lacking: copy.lacking };
  const isConfirmed = (id: string) => !read.isSuspect && (copy.lacking.get(id) ?? read.run) !== read.run;
  const fresh = missing.filter((id) => !isConfirmed(id));
  const live = copy.scenarios.size;
  const isMuch = items.size === 0 || fresh.length * 100 > maxRemovedPercent * live;
  if (fresh.length === 0 || read.allowRemovals || live < TELLING || !isMuch) {
    return { metadata, scenarios: merged(missing), lacking: new Map() };
  }
  return {
    metadata,
    scenarios: merged(missing.filter(isConfirmed)),
    lacking: new Map(fresh.map((id) => [id, read.run])),
  };
}

/** Copies with equal texts are equal to a reader. */
export function copyText({ metadata, scenarios }: Pick<Copy, "metadata" | "scenarios">): string {
  return canonical([metadata, [...scenarios].sort(([a], [b]) => (a < b ? -1 : 1))]);
}
