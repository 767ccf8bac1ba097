import type { FaultAction, HeaderChanges } from "../support/mock/faults.ts";

interface StatusOptions {
  readonly headers?: HeaderChanges;
  readonly body?: string;
  readonly keepBody?: boolean;
}

export const status = (code: number, rest: StatusOptions = {}): FaultAction => ({
  kind: "status",
  status: code,
  ...rest,
});

export const redirect = (code: number, location: string): FaultAction => status(code, { headers: { location } });

/** A JSON body, or what pretends to be one. */
export const text = (body: string): FaultAction => ({ kind: "wrongBody", text: body });

export const encoded = (encoding: string): FaultAction => ({ kind: "headers", set: { "content-encoding": encoding } });

/** Adds a header of this length. */
export const padded = (bytes: number): FaultAction => ({ kind: "headers", set: { "x-padding": "x".repeat(bytes) } });
