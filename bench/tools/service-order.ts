export const API_KEY = "bench-key";

export interface ServiceOptions {
  readonly libraries: number;
  /** Per library. */
  readonly scenarios: number;
  readonly latencyMs: number;
}

/** A message to the service's process, which answers `done`. */
export type Order =
  /** Changes the first `count` libraries, the same ones in each round. */
  { readonly kind: "edit"; readonly count: number; readonly round: number };
