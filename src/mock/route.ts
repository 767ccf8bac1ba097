export type Operation = "listing" | "metadata" | "scenarios";

export type Route =
  | { readonly kind: "listing" }
  | { readonly kind: "metadata" | "scenarios"; readonly owner: string; readonly name: string }
  | { readonly kind: "unknown" }
  | { readonly kind: "malformed"; readonly reason: string };

/** Characters that a path segment may contain unencoded (RFC 3986); all others must be percent-encoded. */
const SEGMENT = /^(?:[\w\-.~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})*$/;
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** Splits the raw path first and decodes each segment on its own, so that `%2F` is a character of a name. */
export function parseRoute(rawPath: string, prefix: string): Route {
  const query = rawPath.indexOf("?");
  const path = query === -1 ? rawPath : rawPath.slice(0, query);
  if (!path.startsWith(`${prefix}/libs`)) return { kind: "unknown" };
  const [, libs, user, owner, name, operation, ...rest] = path.slice(prefix.length).split("/");
  if (libs !== "libs") return { kind: "unknown" };
  if (user === undefined) return { kind: "listing" };
  if (user !== "user" || !owner || !name || rest.length > 0) return { kind: "unknown" };
  if (operation !== "metadata" && operation !== "scenarios") return { kind: "unknown" };
  const bad = [owner, name].find((segment) => !SEGMENT.test(segment) || DOTS.test(segment));
  if (bad !== undefined) return { kind: "malformed", reason: `path segment "${bad}" is not properly encoded` };
  try {
    return { kind: operation, owner: decodeURIComponent(owner), name: decodeURIComponent(name) };
  } catch {
    return { kind: "malformed", reason: "the path is not UTF-8" };
  }
}
