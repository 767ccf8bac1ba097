import type { Organization } from "../../../src/mock/organization.ts";
import type { Json } from "./library.ts";

/** Selects requests. A property that is not set matches every request. */
export interface FaultMatch {
  /** `any` includes paths that the service does not know. */
  readonly operation?: "listing" | "metadata" | "scenarios" | "any";
  /** The exact owner, decoded. */
  readonly owner?: string;
  /** The exact name, decoded. */
  readonly library?: string;
  /** The source of a regular expression that the raw path must match. */
  readonly pathPattern?: string;
}

/** Changes the answers to some requests. Only the first matching fault of a script fires. */
export interface Fault {
  readonly match?: FaultMatch;
  /** How often it fires. Default: 1. */
  readonly times?: number | "always";
  /** How many matching requests pass before it fires. Default: 0. */
  readonly skip?: number;
  /** Several actions are applied in order. Only the last delivery action counts. */
  readonly action: FaultAction | readonly FaultAction[];
}

export type FaultAction = AnswerAction | DeliveryAction | ThrottleAction | BetweenAction;

/** Replaces or changes the answer. */
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
      readonly body: string | Buffer;
      readonly contentType?: string | null;
    }
  | { readonly kind: "html" }
  /** Sets headers of the normal answer; null removes one (`date` too). */
  | { readonly kind: "headers"; readonly set: HeaderChanges }
  | { readonly kind: "bom" }
  /** Omits `count` items (default: all that follow) starting at `from`. */
  | { readonly kind: "dropItems"; readonly from?: number; readonly count?: number }
  | AlterItem
  /** Repeats an item at the end of the list, with the changes of `set`. */
  | { readonly kind: "duplicateItem"; readonly index: number; readonly set?: Readonly<Record<string, Json>> };

/** Changes one item of a list or all of them. The metadata object is item 0. */
export interface AlterItem {
  readonly kind: "alterItem";
  readonly index: number | "all";
  readonly set?: Readonly<Record<string, Json>>;
  /** JSON texts of values: `1.5`, `9223372036854775808`, `"\u0000"`. */
  readonly setSource?: Readonly<Record<string, string>>;
  readonly remove?: readonly string[];
}

/** Sends a correct answer in a faulty way. A negative number of bytes counts from the end. */
export type DeliveryAction =
  | { readonly kind: "delay"; readonly ms: number }
  /** A TCP reset, before the head or after this number of bytes of the body. */
  | { readonly kind: "reset"; readonly afterBytes?: number }
  /**
   * Closes the connection after `bytes` bytes of the body (default: half of it). `length` declares the length of the
   * whole body, `chunked` omits the last chunk, `close` declares no end.
   */
  | { readonly kind: "truncate"; readonly how?: "length" | "chunked" | "close"; readonly bytes?: number }
  /** Sends nothing more: from the start, after the head, or after this number of bytes of the body. */
  | { readonly kind: "hang"; readonly after?: "head" | number }
  /** Sends a correct answer; then closes the socket at once, or as soon as the next request arrives on it. */
  | { readonly kind: "closeKeepAlive"; readonly when: "nextRequest" | "afterAnswer" };

/** Answers requests over a rate with 429. Meant for `times: "always"`. */
export interface ThrottleAction {
  readonly kind: "throttle";
  readonly perSecond: number;
}

/** Edits the organization after the answer was sent. */
interface BetweenAction {
  readonly kind: "between";
  readonly edit: (organization: Organization) => void;
}

export type HeaderChanges = Readonly<Record<string, string | readonly string[] | null>>;
