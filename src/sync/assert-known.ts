import type { Connection, Pool } from "../db/connect.ts";
import { type KnownKey, readUnknown, streamKnownKeys } from "../db/read/known-keys.ts";
import type { ReadSource } from "../db/read/read-source.ts";
import { readSnapshot } from "../db/transaction.ts";
import { UsageError } from "../errors.ts";
import { formatCount } from "../format.ts";
import { formatKey, formatSelector, keyText, shellWord } from "../key.ts";
import type { LibraryKey, Listing } from "../model.ts";
import { printable } from "../printable.ts";
import type { Selection } from "../run-summary.ts";
import { searchLibrary, searchOwner } from "./rules/name-search.ts";
import { hasSelectors } from "./rules/selection.ts";

interface KnownSources {
  /** Null if the service is not asked: then the libraries that earlier runs listed are known. */
  readonly listing: Pick<Listing, "libraries" | "rejects"> | null;
  /** Null if the database has no schema yet: nothing is stored. */
  readonly pool: Pool | null;
  readonly source: ReadSource;
}

/**
 * Returns the selection, with the owner of each library that was named without one.
 * @throws UsageError if several owners have a library of such a name; with suggestions, if an owner or a library is neither
 *   listed nor stored
 */
export async function assertKnown(asked: Selection, sources: KnownSources, signal: AbortSignal): Promise<Selection> {
  const { listing, pool, source } = sources;
  const selection = await withOwners(asked, sources, signal);
  if (!hasSelectors(selection)) return selection;
  const read = (connection: Connection) => readUnknown(connection, selection, source);
  const unstored = pool === null ? selection : await readSnapshot(pool, "looking for a library", read, signal);
  const libraries = new Map(unstored.libraries.map((key) => [keyText(key), key]));
  const owners = new Set(unstored.owners);
  for (const key of listedKeys(listing)) {
    if (libraries.size + owners.size === 0) break;
    libraries.delete(keyText(key));
    owners.delete(key.owner);
  }
  if (libraries.size + owners.size === 0) return selection;

  const lack = listing === null ? "is neither stored nor recorded as listed" : "is neither listed nor stored";
  const searches = [
    ...[...libraries.values()].map((key) => ({ text: `${formatSelector(key)} ${lack}`, search: searchLibrary(key) })),
    ...[...owners].map((owner) => ({ text: `owner ${printable(owner)} ${lack}`, search: searchOwner(owner) })),
  ];
  const shown = searches.slice(0, MAX_SUGGESTED);
  const offer = (key: LibraryKey) => {
    for (const { search } of shown) search.offer(key);
  };
  await offerKnown(offer, sources, signal);
  const suggested = shown.map(({ text, search }) => {
    const words = search.words().join(" or ");
    return words === "" ? text : `${text} (did you mean ${words}?)`;
  });
  const more = searches.length > MAX_SUGGESTED ? [`and ${formatCount(searches.length - MAX_SUGGESTED)} more`] : [];
  const hint = shown.every(({ search }) => search.words().length === 0)
    ? "simcat libraries lists those of the copy"
    : null;
  throw new UsageError([...suggested, ...more].join("; "), { hint });
}

/** A rejected entry counts as listed. */
function* listedKeys(listing: KnownSources["listing"]): Generator<LibraryKey> {
  for (const { key } of listing?.rejects ?? []) if (key !== null) yield key;
  for (const { key } of listing?.libraries ?? []) yield key;
}

/** Passes the key of each library that is listed or was ever stored; some more than once. */
async function offerKnown(
  offer: (key: KnownKey) => void,
  { listing, pool, source }: KnownSources,
  signal: AbortSignal,
): Promise<void> {
  for (const key of listedKeys(listing)) offer(key);
  const offerStored = (connection: Connection) => streamKnownKeys(connection, offer, source);
  if (pool !== null) await readSnapshot(pool, "looking for names", offerStored, signal);
}

/** Finds the owner of each library that was named without one: of a removed library only if no other has the name, "" if none has. */
async function withOwners(selection: Selection, sources: KnownSources, signal: AbortSignal): Promise<Selection> {
  const names = new Set(selection.libraries.flatMap(({ owner, name }) => (owner === "" ? name : [])));
  if (names.size === 0) return selection;
  const found: KnownKey[] = [];
  const offer = (key: KnownKey) => {
    if (names.has(key.name)) found.push(key);
  };
  await offerKnown(offer, sources, signal);
  const libraries = selection.libraries.map((key) => {
    if (key.owner !== "") return key;
    const alike = found.filter(({ name }) => name === key.name);
    const present = alike.filter(({ isRemoved }) => !isRemoved);
    const namesakes = new Map((present.length > 0 ? present : alike).map((one) => [keyText(one), one]));
    const [only = key, ...others] = namesakes.values();
    if (others.length === 0) return { owner: only.owner, name: only.name };
    const words = [only, ...others].map((one) => shellWord(formatKey(one))).sort();
    const problem = `${formatCount(words.length)} owners have a library ${formatSelector(key)}`;
    throw new UsageError(problem, { hint: `write ${words.join(" or ")}` });
  });
  return { ...selection, libraries };
}

const MAX_SUGGESTED = 10;
