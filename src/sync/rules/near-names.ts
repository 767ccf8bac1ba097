import { isTypeable, keyText, shellWord, typeableKey } from "../../key.ts";
import type { LibraryKey, Selection } from "../../model.ts";

const SUGGESTED = 3;
/** Longer names would fill the terminal. */
const LONGEST = 500;
/** The distance of a library of the same name and another owner: greater than that of every near name. */
const OTHER_OWNER = 100;

/** Finds the names that are nearest to names that nothing is known by. */
export interface NearNames {
  /** Takes a library that is known, in whatever order and however often. */
  offer(key: LibraryKey): void;
  /** Names that can be typed instead of this library, the nearest first. */
  ofLibrary(key: LibraryKey): string[];
  ofOwner(owner: string): string[];
}

/** Suggestions for one name, the nearest first. */
interface Search {
  readonly wanted: LibraryKey;
  readonly found: { readonly word: string; readonly distance: number }[];
}

export function openNearNames(unknown: Selection): NearNames {
  const libraries = new Map(unknown.libraries.map((key) => [keyText(key), openSearch(fold(key))]));
  const owners = new Map(unknown.owners.map((owner) => [owner, openSearch(fold({ owner, name: "" }))]));
  const wordsOf = (search: Search | undefined) => search?.found.map(({ word }) => word) ?? [];
  return {
    offer(key) {
      const folded = fold(key);
      for (const search of libraries.values()) {
        const distance = libraryDistance(search.wanted, folded);
        if (distance !== null) keep(search, shellWord(typeableKey(key)), distance);
      }
      // `--owner` takes the name as it is, so that what has to be escaped cannot be typed.
      if (owners.size === 0 || !isTypeable(key.owner)) return;
      for (const search of owners.values()) {
        const distance = nearness(search.wanted.owner, folded.owner);
        if (distance !== null) keep(search, shellWord(key.owner), distance);
      }
    },
    ofLibrary: (key) => wordsOf(libraries.get(keyText(key))),
    ofOwner: (owner) => wordsOf(owners.get(owner)),
  };
}

const openSearch = (wanted: LibraryKey): Search => ({ wanted, found: [] });

/** Names that differ by case, by spaces at their ends or by how an accent is written look alike. */
const fold = ({ owner, name }: LibraryKey): LibraryKey => ({ owner: foldText(owner), name: foldText(name) });
const foldText = (text: string) => text.normalize("NFKC").trim().toLowerCase();

function libraryDistance(wanted: LibraryKey, known: LibraryKey): number | null {
  const ofName = nearness(wanted.name, known.name);
  if (ofName === null) return null;
  const ofOwner = nearness(wanted.owner, known.owner);
  if (ofOwner === null) return ofName === 0 ? OTHER_OWNER : null;
  return ofName + ofOwner;
}

function keep({ found }: Search, word: string, distance: number): void {
  if (word.length > LONGEST || found.some((one) => one.word === word)) return;
  found.push({ word, distance });
  found.sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1));
  found.splice(SUGGESTED);
}

/** The edit distance of two texts where it is small for their length; null where it is not. */
function nearness(a: string, b: string): number | null {
  const limit = Math.min(3, 1 + Math.floor(Math.min(a.length, b.length) / 4));
  const distance = distanceWithin(a, b, limit);
  return distance > limit ? null : distance;
}

/**
 * How many characters must be put in, taken out, replaced or swapped with their neighbour (optimal string alignment);
 * some number above `limit` where it is more than that. Only the diagonal band of that width is computed.
 */
function distanceWithin(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const far = limit + 1;
  let twoBefore: number[] = [];
  let before = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let lowest = i;
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j += 1) {
      const replaced = (before[j - 1] ?? far) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (twoBefore[j - 2] ?? far) + 1 : far;
      const distance = Math.min(replaced, swapped, (before[j] ?? far) + 1, (row[j - 1] ?? far) + 1);
      row[j] = distance;
      lowest = Math.min(lowest, distance);
    }
    if (lowest > limit) return far;
    twoBefore = before;
    before = row;
  }
  return before[b.length] ?? far;
}
