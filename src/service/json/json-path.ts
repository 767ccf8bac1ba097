/** Longest path that is told: a path is part of an index entry. */
const LONGEST = 200;

function child(path: string, key: string): string {
  // A key is the sender's text: shown where it is a plain name, and a question mark otherwise.
  const name = /^[\w$-]{1,40}$/.test(key) ? key : "?";
  return path === "" ? name : `${path}.${name}`;
}

function search(value: unknown, path: string, isWanted: (value: unknown) => boolean): string | null {
  if (isWanted(value)) return path;
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = search(value[i], `${path}[${i}]`, isWanted);
      if (found !== null) return found;
    }
    return null;
  }
  for (const [key, inner] of Object.entries(value)) {
    const below = child(path, key);
    const found = isWanted(key) ? below : search(inner, below, isWanted);
    if (found !== null) return found;
  }
  return null;
}

/** Path of the first value or key that is wanted, such as `extra.a[3]`; empty when there is none. */
export function findPath(value: unknown, isWanted: (value: unknown) => boolean): string {
  const path = search(value, "", isWanted) ?? "";
  return path.length > LONGEST ? `${path.slice(0, LONGEST)}…` : path;
}
