import type { EditName } from "./edits.ts";
import type { Json, MockLibrary, Organization } from "./nouns.ts";
import type { Operation } from "./route.ts";

/** Selects requests. An absent property matches every request. */
export interface FaultMatch {
  /** `any` includes paths that the service does not know. */
  readonly operation?: Operation | "any";
  /** Exactly, decoded. */
  readonly owner?: string;
  /** Exactly, decoded. */
  readonly library?: string;
  /** The raw path, `*` standing for anything. */
  readonly path?: string;
  /** Source of a regular expression, tried on the raw path. */
  readonly pathPattern?: string;
}

/** Changes the answer to some requests. Only the first matching fault of a script fires. */
export interface Fault {
  readonly match?: FaultMatch;
  /** How often it fires; default 1. */
  readonly times?: number | "always";
  /** How many matching requests pass before it fires. */
  readonly skip?: number;
  /** Of firing for a matching request, drawn from the mock's seed. */
  readonly probability?: number;
  /** Several are done in turn; of those that spoil the delivery only the last counts. */
  readonly action: FaultAction | readonly FaultAction[];
}

export type FaultAction = AnswerAction | DeliveryAction | ThrottleAction | BetweenAction;

/** Another answer, without a delivery fault. */
export type AnswerAction =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: HeaderChanges;
      /** Default: a JSON error object. */
      readonly body?: string;
      /** Keeps the normal body, as a wrong 206 does. */
      readonly keepBody?: boolean;
    }
  | {
      readonly kind: "wrongBody";
      readonly text?: string;
      readonly base64?: string;
      readonly contentType?: string | null;
    }
  | { readonly kind: "html" }
  /** Claims gzip and sends the plain bytes. */
  | { readonly kind: "badGzip" }
  | { readonly kind: "unknownEncoding"; readonly encoding?: string }
  /** Valid JSON of `bytes` decoded bytes, about a thousandth of that on the wire. */
  | { readonly kind: "gzipBomb"; readonly bytes: number }
  | { readonly kind: "redirect"; readonly status?: number; readonly location: string | null }
  /** On the normal answer; null takes a header away (`date` too). */
  | { readonly kind: "headers"; readonly set: HeaderChanges }
  | { readonly kind: "hugeHeaders"; readonly bytes?: number }
  | { readonly kind: "bom" }
  /** A byte that UTF-8 never has, within the first string value. */
  | { readonly kind: "invalidUtf8" }
  | { readonly kind: "emptyList" }
  /** The answer of the documented mock: one object of type names, even where a list is expected. */
  | { readonly kind: "placeholder"; readonly inList?: boolean }
  /** Omits `count` items (default: all remaining) starting at `from`. */
  | { readonly kind: "dropItems"; readonly from?: number; readonly count?: number }
  | AlterItem
  /** Repeats an item at the end, changed or not. */
  | { readonly kind: "duplicateItem"; readonly index: number; readonly set?: Readonly<Record<string, Json>> };

/** Changes one item of a list (negative: from its end) or all of them; the metadata object is its own item 0. */
export interface AlterItem {
  readonly kind: "alterItem";
  readonly index: number | "all";
  readonly set?: Readonly<Record<string, Json>>;
  /** Source texts of values: `1.5`, `9223372036854775808`, `"\u0000"`. */
  readonly setSource?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
  /** The whole item's source text. */
  readonly source?: string;
}

/** A correct answer with a delivery fault. A negative number of bytes counts from the end. */
export type DeliveryAction =
  | { readonly kind: "delay"; readonly ms: number }
  /** A TCP reset, before the head or after that number of body bytes. */
  | { readonly kind: "reset"; readonly afterBytes?: number }
  /** Default: half of the body. `length` declares all of it, `chunked` never ends, `close` ends only by closing. */
  | { readonly kind: "truncate"; readonly how?: "length" | "chunked" | "close"; readonly bytes?: number }
  /** Sends nothing more: from the start, after the head, or after that number of body bytes. */
  | { readonly kind: "hang"; readonly after?: "nothing" | "head" | number }
  | { readonly kind: "drip"; readonly bytes: number; readonly everyMs: number }
  /** Answers well; then closes the socket at once, or as soon as the next request arrives on it. */
  | { readonly kind: "closeKeepAlive"; readonly when?: "nextRequest" | "afterAnswer" };

/** Refuses what is over a rate or over a number in flight. Meant for `times: "always"`. */
export interface ThrottleAction {
  readonly kind: "throttle";
  readonly perSecond?: number;
  readonly inFlight?: number;
  /** Default 429. */
  readonly status?: number;
  readonly retryAfter?: string;
}

/** Edits the request's library (of a listing: one by chance) just before the answer is made, or when it was sent. */
export interface BetweenAction {
  readonly kind: "between";
  readonly when?: "before" | "after";
  /** A function only from a program; by name from JSON. */
  readonly edit: EditName | ((organization: Organization, library: MockLibrary | undefined) => void);
}

export type HeaderChanges = Readonly<Record<string, string | readonly string[] | null>>;
