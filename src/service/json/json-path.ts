/** Longer paths are cut, because the path is part of an index entry. */
const MAX_PATH_CHARS = 200;

function child(path: string, key: string): string {
  // A key is text of the service: show a plain name as it is, and any other as a question mark.
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
    const childPath = child(path, key);
    const found = isWanted(key) ? childPath : search(inner, childPath, isWanted);
    if (found !== null) return found;
  }
  return null;
}

/** The path of the first value or key that is wanted, such as `extra.a[3]`; empty if there is none. */
export function findPath(value: unknown, isWanted: (value: unknown) => boolean): string {
  const path = search(value, "", isWanted) ?? "";
  return path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS)}…` : path;
}
