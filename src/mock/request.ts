import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

/** A request as it arrived, and its outcome. */
export interface RecordedRequest {
  readonly method: string;
  /** Exactly as received, still percent-encoded. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** When it arrived, in monotonic milliseconds (`performance.now()`). */
  readonly at: number;
  /** The status of the answer; null until its head is sent. */
  readonly status: number | null;
  /** The kinds of the fault's actions, joined by `+`; null without a fault. */
  readonly fault: string | null;
}

/** The same, while the request is answered. */
export type RequestRecord = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

export interface Recorder {
  readonly requests: readonly RecordedRequest[];
  /** Requests that simcat must never send, one sentence each. */
  readonly violations: readonly string[];
  add(req: IncomingMessage): RequestRecord;
  clear(): void;
}

/** If `keep` is false, only violations are recorded, so that a long measurement does not fill the memory. */
export function createRecorder(keep: boolean): Recorder {
  const requests: RequestRecord[] = [];
  const violations: string[] = [];
  return {
    requests,
    violations,
    add(req) {
      const { method = "", url: path = "", headers } = req;
      const record: RequestRecord = { method, path, headers, at: performance.now(), status: null, fault: null };
      if (keep) requests.push(record);
      if (method !== "GET") violations.push(`${method} ${path}: only GET may ever be sent`);
      return record;
    },
    clear() {
      requests.length = 0;
      violations.length = 0;
    },
  };
}

export type Operation = "listing" | "metadata" | "scenarios";

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
export function parseRoute(rawPath: string, prefix: string): Route {
  const query = rawPath.indexOf("?");
  const path = query === -1 ? rawPath : rawPath.slice(0, query);
  if (!path.startsWith(`${prefix}/libs`)) return { kind: "unknown" };
  const [, libs, user, owner, name, operation, ...rest] = path.slice(prefix.length).split("/");
  if (libs !== "libs") return { kind: "unknown" };
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
