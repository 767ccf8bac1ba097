import type { EditName } from "./edits.ts";
import type { Json, MockLibrary, Organization } from "./nouns.ts";
import type { Operation } from "./route.ts";

/** Which requests a fault concerns; what is left out matches everything. */
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

/** Something that goes wrong, or only otherwise, for some requests. The first fault of a script that fires is the one. */
export interface Fault {
  readonly match?: FaultMatch;
  /** How often it fires; 1 unless told. */
  readonly times?: number | "always";
  /** How many matching requests pass before it fires. */
  readonly skip?: number;
  /** Of firing for a matching request, drawn from the mock's seed. */
  readonly probability?: number;
  /** Several are done in turn; of those that spoil the delivery only the last counts. */
  readonly action: FaultAction | readonly FaultAction[];
}

export type FaultAction = AnswerAction | DeliveryAction | ThrottleAction | BetweenAction;

/** Another answer, delivered well. */
export type AnswerAction =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: HeaderChanges;
      /** A JSON error object unless told. */
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
  /** Valid JSON that is so many bytes once it is decoded, a thousandth of them on the wire. */
  | { readonly kind: "gzipBomb"; readonly bytes: number }
  | { readonly kind: "redirect"; readonly status?: number; readonly location: string | null }
  /** On the normal answer; null takes a header away (`date` too). */
  | { readonly kind: "headers"; readonly set: HeaderChanges }
  | { readonly kind: "hugeHeaders"; readonly bytes?: number }
  | { readonly kind: "bom" }
  /** A byte that UTF-8 never has, within the first string value. */
  | { readonly kind: "invalidUtf8" }
  | { readonly kind: "emptyList" }
  /** What a documentation's mock sends: one object of type names, also where a list belongs. */
  | { readonly kind: "placeholder"; readonly inList?: boolean }
  /** Leaves out `count` items (all the rest unless told) from `from` on. */
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

/** The right answer, delivered badly. A negative number of bytes counts from the end. */
export type DeliveryAction =
  | { readonly kind: "delay"; readonly ms: number }
  /** A TCP reset, before the head or after so many bytes of body. */
  | { readonly kind: "reset"; readonly afterBytes?: number }
  /** Half of the body unless told: `length` declares all of it, `chunked` never ends, `close` ends by the close alone. */
  | { readonly kind: "truncate"; readonly how?: "length" | "chunked" | "close"; readonly bytes?: number }
  /** Silent for ever: from the start, behind the head, or behind so many bytes of body. */
  | { readonly kind: "hang"; readonly after?: "nothing" | "head" | number }
  | { readonly kind: "drip"; readonly bytes: number; readonly everyMs: number }
  /** Answers well; then closes the socket at once, or as soon as the next request arrives on it. */
  | { readonly kind: "closeKeepAlive"; readonly when?: "nextRequest" | "afterAnswer" };

/** Refuses what is over a rate or over a number in flight. Meant for `times: "always"`. */
export interface ThrottleAction {
  readonly kind: "throttle";
  readonly perSecond?: number;
  readonly inFlight?: number;
  /** 429 unless told. */
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
