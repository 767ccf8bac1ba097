import { canonical, type Said } from "./answers.ts";

/** What the tables hold of one library's content. */
export interface Copy {
  /** Canonical JSON; null when its metadata could never be read. */
  readonly metadata: string | null;
  /** Live scenarios: canonical JSON by id. */
  readonly scenarios: ReadonlyMap<string, string>;
  /** Which of them a list lacked that shrank too much, and in which run. */
  readonly lacking: ReadonlyMap<string, string>;
}

/** A read of which both answers have been given. */
export interface Read {
  readonly run: string;
  readonly metadata: Extract<Said, { kind: "metadata" }>;
  readonly scenarios: Extract<Said, { kind: "scenarios" }>;
  /** The listing's own entry was not understood. */
  readonly isEntryBad: boolean;
  readonly allowRemovals: boolean;
}

/** From so many on, losing too many at once waits for a second look. */
const TELLING = 10;

/** What is to be stored when this is read on top of that (contract 3.1 and 3.4). */
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
  const isConfirmed = (id: string) => (copy.lacking.get(id) ?? read.run) !== read.run;
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

/** Equal texts are equal copies, for a reader. */
export function copyText({ metadata, scenarios }: Pick<Copy, "metadata" | "scenarios">): string {
  return canonical([metadata, [...scenarios].sort(([a], [b]) => (a < b ? -1 : 1))]);
}
