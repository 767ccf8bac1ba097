import type { ListedLibraries, ListedLibrary } from "../../model.ts";
import { openKeyTable } from "../compact/key-table.ts";
import { openTextPages } from "../compact/text-pages.ts";

export interface ListedShelf extends ListedLibraries {
  readonly length: number;
  /** A library that is not there yet. */
  add(library: FitLibrary): void;
  /** From now on it is this instead. */
  replace(at: number, library: ListedLibrary): void;
}

/** One whose entry can be stored. */
export type FitLibrary = ListedLibrary & { readonly source: string };

/** So many libraries stay objects, as they came: some 10 MB. */
const KEPT = 20_000;

/**
 * Keeps listed libraries, from the first `KEPT` on as the source texts of their entries, which are read again whenever one
 * is asked for: as objects a million of them took 470 MB of heap, so they take 150 beside it.
 */
export function openShelf(read: (source: string) => ListedLibrary): ListedShelf {
  const texts = openTextPages();
  const table = openKeyTable();
  const kept: ListedLibrary[] = [];
  const replaced = new Map<number, ListedLibrary>();
  let length = 0;

  /** Who finds a library asks for it next. */
  let last: { readonly index: number; readonly library: ListedLibrary } | undefined;

  const at = (index: number) => {
    const library = kept[index];
    if (library !== undefined) return library;
    if (last?.index !== index) last = { index, library: replaced.get(index) ?? read(texts.text(index - KEPT)) };
    return last.library;
  };
  return {
    get length() {
      return length;
    },
    at,
    find: (key) =>
      table.find(key, (index) => {
        const { owner, name } = at(index).key;
        return owner === key.owner && name === key.name;
      }),
    *[Symbol.iterator]() {
      for (let index = 0; index < length; index++) yield at(index);
    },
    add(library) {
      table.put(library.key);
      if (length < KEPT) kept.push(library);
      else texts.add(library.source);
      length++;
    },
    replace(index, library) {
      if (index < KEPT) kept[index] = library;
      else replaced.set(index, library);
      last = undefined;
    },
  };
}
