import type { LibraryKey, ListedLibraries, ListedLibrary } from "../../model.ts";
import { openKeyTable } from "../compact/key-table.ts";
import { openTextPages } from "../compact/text-pages.ts";

export interface ListedShelf extends ListedLibraries {
  readonly length: number;
  /** A library that is not there yet, by its entry's source text. */
  add(key: LibraryKey, source: string): void;
  /** From now on it is this instead. */
  replace(at: number, library: ListedLibrary): void;
}

/**
 * Keeps listed libraries as the source texts of their entries, and reads one again whenever it is asked for: as objects a
 * million of them took 470 MB of heap, so they take 150 beside it.
 */
export function openShelf(read: (source: string) => ListedLibrary): ListedShelf {
  const texts = openTextPages();
  const table = openKeyTable();
  const replaced = new Map<number, ListedLibrary>();
  let length = 0;

  /** Who finds a library asks for it next. */
  let last: { readonly index: number; readonly library: ListedLibrary } | undefined;

  const at = (index: number) => {
    if (last?.index !== index) last = { index, library: replaced.get(index) ?? read(texts.text(index)) };
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
    add(key, source) {
      table.put(key);
      texts.add(source);
      length++;
    },
    replace(index, library) {
      replaced.set(index, library);
      last = undefined;
    },
  };
}
