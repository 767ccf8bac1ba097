export type MockOperation = "listing" | "metadata" | "scenarios";

export type Route =
  | { readonly kind: "listing" }
  | { readonly kind: "metadata" | "scenarios"; readonly owner: string; readonly name: string }
  | { readonly kind: "unknown" }
  | { readonly kind: "malformed"; readonly reason: string };

/** Characters that a path segment may contain unencoded (RFC 3986); all others must be percent-encoded. */
const SEGMENT = /^(?:[\w\-.~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/;
/** The segments `.` and `..`, encoded or not: URL parsers remove them. */
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/** Splits the raw path before decoding its segments, so that `%2F` is a character of a name. */
export function parseRoute(rawPath: string): Route {
  const query = rawPath.indexOf("?");
  const path = query === -1 ? rawPath : rawPath.slice(0, query);
  const [start, libs, user, owner, name, operation, ...rest] = path.split("/");
  if (start !== "" || libs !== "libs") return { kind: "unknown" };
  if (user === undefined) return { kind: "listing" };
  if (user !== "user" || !owner || !name || rest.length > 0) return { kind: "unknown" };
  if (operation !== "metadata" && operation !== "scenarios") return { kind: "unknown" };
  const invalid = [owner, name].find((segment) => !SEGMENT.test(segment) || DOT_SEGMENT.test(segment));
  if (invalid !== undefined) return { kind: "malformed", reason: `path segment "${invalid}" is not properly encoded` };
  try {
    return { kind: operation, owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  } catch {
    return { kind: "malformed", reason: "the path is not UTF-8" };
  }
}
