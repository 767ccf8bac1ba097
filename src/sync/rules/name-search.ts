import { distance } from "fastest-levenshtein";
import { formatKey, isTypeable, shellWord } from "../../key.ts";
import type { LibraryKey } from "../../model.ts";

const MAX_SUGGESTIONS = 3;
/** Longer names would fill the terminal. */
const MAX_NAME_CHARS = 500;
/** The distance of a library of the same name and another owner: greater than that of every near name. */
const OTHER_OWNER = 100;
/** The distance of a name that continues the unknown one: greater than that of every misspelt name. */
const CONTINUED = 10;

/** Suggests libraries, of any owner if the unknown one has none. */
export function searchLibrary(unknown: LibraryKey) {
  const [owner, name] = [foldText(unknown.owner), foldText(unknown.name)];
  return createSearch((known) => {
    const ofName = nearness(name, foldText(known.name));
    const ofOwner = ofName === null ? null : owner === "" ? 0 : nearness(owner, foldText(known.owner));
    const otherOwner = ofName === 0 ? OTHER_OWNER : null;
    const distance = ofName !== null && ofOwner !== null ? ofName + ofOwner : otherOwner;
    return distance === null ? null : { word: shellWord(formatKey(known)), distance };
  });
}

/** Suggests owners. `--owner` takes the name unescaped, so a name that needs escapes cannot be typed. */
export function searchOwner(unknown: string) {
  const owner = foldText(unknown);
  return createSearch((known) => {
    const distance = isTypeable(known.owner) ? nearness(owner, foldText(known.owner)) : null;
    return distance === null ? null : { word: shellWord(known.owner), distance };
  });
}

/** Finds the known names that are most similar to an unknown one. */
function createSearch(suggest: (known: LibraryKey) => { readonly word: string; readonly distance: number } | null) {
  const found: NonNullable<ReturnType<typeof suggest>>[] = [];
  return {
    /** Takes a known library, in any order and any number of times. */
    offer(key: LibraryKey): void {
      const one = suggest(key);
      if (one === null || one.word.length > MAX_NAME_CHARS || found.some(({ word }) => word === one.word)) return;
      found.push(one);
      found.sort((a, b) => a.distance - b.distance || (a.word < b.word ? -1 : 1));
      found.splice(MAX_SUGGESTIONS);
    },
    /** Up to three words to type instead of the unknown name, the most similar first. */
    words: () => found.map(({ word }) => word),
  };
}

/** Names that differ by case, by spaces at their ends or by how an accent is written look alike. */
const foldText = (text: string) => text.normalize("NFKC").trim().toLowerCase();

/** The edit distance of two names; null if it is large for their length, and the known one does not begin with the unknown one. */
function nearness(unknown: string, known: string): number | null {
  const limit = Math.min(3, 1 + Math.floor(Math.min(unknown.length, known.length) / 4));
  const wrong = distance(unknown, known);
  if (wrong <= limit) return wrong;
  return known.startsWith(unknown) ? CONTINUED : null;
}
