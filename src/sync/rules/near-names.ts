import { editDistance } from "../../edit-distance.ts";
import { isTypeable, keyText, shellWord, typeableKey } from "../../key.ts";
import type { LibraryKey } from "../../model.ts";
import type { Selection } from "../../run-summary.ts";

const MAX_SUGGESTIONS = 3;
/** Longer names would fill the terminal. */
const MAX_NAME_CHARS = 500;
/** The distance of a library of the same name and another owner: greater than that of every near name. */
const OTHER_OWNER = 100;

/** Finds the known names that are most similar to unknown ones. */
export interface NearNames {
  /** Adds a known library, in any order and any number of times. */
  offer(key: LibraryKey): void;
  /** Up to three names to type instead of this library, the most similar first. */
  ofLibrary(key: LibraryKey): string[];
  ofOwner(owner: string): string[];
}

/** Suggestions for one name, the nearest first. */
interface Search {
  readonly wanted: LibraryKey;
  readonly found: { readonly word: string; readonly distance: number }[];
}

export function createNearNames(unknown: Selection): NearNames {
  const libraries = new Map(unknown.libraries.map((key) => [keyText(key), createSearch(fold(key))]));
  const owners = new Map(unknown.owners.map((owner) => [owner, createSearch(fold({ owner, name: "" }))]));
  const wordsOf = (search: Search | undefined) => search?.found.map(({ word }) => word) ?? [];
  return {
    offer(key) {
      const folded = fold(key);
      for (const search of libraries.values()) {
        const distance = libraryDistance(search.wanted, folded);
        if (distance !== null) keep(search, shellWord(typeableKey(key)), distance);
      }
      // `--owner` takes the name unescaped, so a name that needs escapes cannot be typed.
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

const createSearch = (wanted: LibraryKey): Search => ({ wanted, found: [] });

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
  if (word.length > MAX_NAME_CHARS || found.some((suggestion) => suggestion.word === word)) return;
  found.push({ word, distance });
  found.sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1));
  found.splice(MAX_SUGGESTIONS);
}

/** The edit distance of two texts; null if it is large for their length. */
function nearness(a: string, b: string): number | null {
  const limit = Math.min(3, 1 + Math.floor(Math.min(a.length, b.length) / 4));
  const distance = editDistance(a, b, limit);
  return distance > limit ? null : distance;
}
