import type { LibraryKey } from "./model.ts";

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A 32-bit hash of a library's key: FNV-1a over `owner\0name`, mixed. Without a seed it is the same on every machine. */
export function hashKey({ owner, name }: LibraryKey, seed = FNV_OFFSET): number {
  const hash = Math.imul(addText(owner, seed), FNV_PRIME); // The NUL between the two parts.
  return mix(addText(name, hash));
}

/** A 32-bit hash of a safe integer. */
export function hashInteger(value: number, seed: number): number {
  return mix((value | 0) ^ Math.imul(Math.floor(value / 2 ** 32), 0x9e3779b1) ^ seed);
}

/** A seed for this process, so that no input can be chosen to make a hash table slow. */
export function randomSeed(): number {
  return Math.floor(Math.random() * 2 ** 32);
}

/** FNV-1a over the UTF-16 code units. */
function addText(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  return hash;
}

/** The finalizer of MurmurHash3: each bit of the input changes half of the result's bits. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
