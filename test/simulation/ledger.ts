import type { LibraryKey } from "../../src/model.ts";
import type { Selection } from "../../src/run-summary.ts";
import { isInSlice } from "../../src/slice.ts";
import { selectorOf } from "../../src/sync/rules/selection.ts";
import type { Said } from "./answers.ts";
import { type Copy, copyText, store } from "./copies.ts";
import { parseKey, type Seen } from "./reader.ts";

export interface HeardListing {
  readonly keys: ReadonlySet<string>;
  readonly complete: boolean;
  readonly bad: ReadonlySet<string>;
  /** When a cache stored it, by the database's clock in ms; null if the service answered. */
  readonly cachedAt: number | null;
}

/** Whether the listing shows what happened at that time, by the database's clock in ms. */
export const shows = ({ cachedAt }: HeardListing, at: number) => cachedAt === null || at <= cachedAt;

interface Answer {
  readonly metadata?: Said;
  readonly scenarios?: Said;
}

export type Heard = ReturnType<typeof createHeard>;

/** The answers of the service to one run. */
function createHeard(run: string, allowRemovals: boolean, selection: Selection) {
  const { slice } = selection;
  const selects = slice ? (key: LibraryKey) => isInSlice(slice, key) : selectorOf(selection);
  return {
    run,
    allowRemovals,
    /** Whether the run concerns the library. */
    isSelected: (key: string) => selects(parseKey(key)),
    /** A run of a slice marks no library as removed. */
    isSlice: slice !== undefined,
    /** The listing that the run accepts; null before. */
    listing: null as HeardListing | null,
    /** The last answer about each library's two parts; `nothing` if it was lost. */
    content: new Map<string, Answer>(),
    /** All of them. */
    answers: new Map<string, { readonly metadata: readonly Said[]; readonly scenarios: readonly Said[] }>(),
    /** Libraries of which both parts were once answered without a bad item. */
    whole: new Set<string>(),
    /** The run received false or old data that it has to accept. */
    misled: false,
    /** A cache answered for content, which proves nothing about a field. */
    aged: false,
    /** Libraries whose requests were answered with another listed library's content. */
    swapped: new Set<string>(),
  };
}

export type Ledger = ReturnType<typeof openLedger>;

/** Records the possible contents of each library's rows, given what was stored and what the service has answered since. */
export function openLedger(maxRemovedPercent: number) {
  let stored = new Map<string, Seen>();
  let possible = new Map<string, Map<string, Copy>>();
  let open: Heard[] = [];
  /** The live libraries at the last check. */
  let live: ReadonlySet<string> = new Set();

  const copiesOf = (key: string): (Copy | null)[] => {
    const known = [...(possible.get(key)?.values() ?? [])];
    return stored.has(key) ? known : [null, ...known];
  };

  function take(heard: Heard, key: string, { metadata, scenarios }: Answer): void {
    if (metadata?.kind !== "metadata" || scenarios?.kind !== "scenarios") return;
    const isEntryBad = heard.listing?.bad.has(key) ?? false;
    const read = { run: heard.run, metadata, scenarios, isEntryBad, allowRemovals: heard.allowRemovals };
    // An edit after the listing makes a good answer suspect, which only the program can see.
    const suspicions = metadata.suspect || scenarios.suspect ? [true] : [false, true];
    const copies = possible.get(key) ?? new Map<string, Copy>();
    for (const copy of copiesOf(key)) {
      for (const isSuspect of suspicions) {
        const next = store(copy, { ...read, isSuspect }, maxRemovedPercent);
        copies.set(`${copyText(next)}${[...next.lacking.keys()]}`, next);
      }
    }
    possible.set(key, copies);
  }

  function isWhole(seen: Seen): boolean {
    const text = copyText(seen.copy);
    return [...(possible.get(seen.key)?.values() ?? [])].some((copy) => copyText(copy) === text);
  }

  return {
    open(run: string, allowRemovals: boolean, selection: Selection): Heard {
      const heard = createHeard(run, allowRemovals, selection);
      open.push(heard);
      return heard;
    },
    said(heard: Heard, key: string, what: "metadata" | "scenarios", said: Said): void {
      heard.content.set(key, { ...heard.content.get(key), [what]: said });
      const isGood = (one: Said | undefined) => one !== undefined && one.kind !== "nothing" && !one.partial;
      const other = what === "metadata" ? "scenarios" : "metadata";
      // A library may be read for itself and as a peer at the same time, so the last answers may be of different reads.
      const answers = heard.answers.get(key) ?? { metadata: [], scenarios: [] };
      heard.answers.set(key, { ...answers, [what]: [...answers[what], said] });
      for (const one of answers[other]) {
        const both = { [what]: said, [other]: one };
        if (isGood(said) && isGood(one)) heard.whole.add(key);
        take(heard, key, both);
      }
    },
    /** Violations in this view, one sentence each. `heard` belongs to the run that has just committed, if no other runs. */
    check(sight: ReadonlyMap<string, Seen>, heard?: Heard): string[] {
      const wrong: string[] = [];
      const before = live;
      live = new Set([...sight.values()].filter((seen) => seen.live).map(({ key }) => key));
      const late = heard !== undefined && heard.content.size > 0 ? [...before].filter((key) => !live.has(key)) : [];
      if (late.length > 0) wrong.push(`removals: ${late.join(" ")} marked removed after content had been read`);
      for (const seen of sight.values()) {
        if (!isWhole(seen)) {
          const may = [...(possible.get(seen.key)?.values() ?? [])].map(copyText);
          wrong.push(
            `whole libraries: ${seen.key} is seen as the service never had it:\n    found    ${copyText(seen.copy)}\n    possible ${may.join("\n             ")}`,
          );
        }
        const before = stored.get(seen.key);
        if (before?.live === true && !seen.live && !open.some((heard) => mayRemove(heard, before))) {
          wrong.push(`removals: ${seen.key} is marked removed and no whole listing lacked it`);
        }
        if (before?.live === false && seen.live && !open.some((heard) => mayReturn(heard, before))) {
          wrong.push(`removals: ${seen.key} is live again and no listing had it`);
        }
      }
      for (const key of stored.keys()) if (!sight.has(key)) wrong.push(`rows: ${key} was stored and its row is gone`);
      return wrong;
    },
    /** No run is active any more: this view is what is stored. */
    settle(sight: ReadonlyMap<string, Seen>): void {
      open = [];
      stored = new Map(sight);
      possible = new Map([...sight].map(([key, { copy }]) => [key, new Map([["", copy]])]));
    },
  };
}

/** A cached listing proves nothing about a library that was read since. */
const mayRemove = ({ listing, isSelected, isSlice }: Heard, { key, readAt }: Seen) =>
  !isSlice && listing?.complete === true && !listing.keys.has(key) && isSelected(key) && shows(listing, readAt);

const mayReturn = ({ listing, isSelected }: Heard, { key, removedAt }: Seen) =>
  isSelected(key) && listing?.keys.has(key) === true && shows(listing, removedAt?.getTime() ?? 0);
