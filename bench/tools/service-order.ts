export const API_KEY = "bench-key";

export interface ServiceOptions {
  readonly libraries: number;
  /** Of each library. */
  readonly scenarios: number;
  readonly latencyMs: number;
}

/** What the service's process is told; it answers `done`. */
export type Order =
  /** Changes the first libraries: the same ones in each round. */
  { readonly kind: "edit"; readonly count: number; readonly round: number };
