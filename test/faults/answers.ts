import type { Fault, FaultAction, FaultMatch, HeaderChanges } from "../support/mock/faults.ts";

type Status = Extract<FaultAction, { readonly kind: "status" }>;

export const status = (code: number, rest: Omit<Status, "kind" | "status"> = {}): FaultAction => ({
  kind: "status",
  status: code,
  ...rest,
});

export const redirect = (code: number, location: string): FaultAction => status(code, { headers: { location } });

export const retryAfter = (code: number, seconds: string): FaultAction =>
  status(code, { headers: { "retry-after": seconds } });

/** A JSON body, or what pretends to be one. */
export const text = (body: string): FaultAction => ({ kind: "wrongBody", body });

export const bytes = (body: Buffer): FaultAction => ({ kind: "wrongBody", body });

export const headers = (set: HeaderChanges): FaultAction => ({ kind: "headers", set });

export const encoded = (encoding: string): FaultAction => headers({ "content-encoding": encoding });

/** Adds a header of this length. */
export const padded = (length: number): FaultAction => headers({ "x-padding": "x".repeat(length) });

/** One fault of a script, for every matching request. */
export const always = (match: FaultMatch, action: Fault["action"]): Fault => ({ match, times: "always", action });
