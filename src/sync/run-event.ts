import type { LibraryKey, Reject, RunKind } from "../model.ts";

/** What a run tells on its way; its end is told by the report. */
export type RunEvent =
  | { readonly kind: "started"; readonly id: number; readonly run: RunKind }
  | { readonly kind: "planned"; readonly listed: number; readonly toRead: number; readonly skipped: number }
  | { readonly kind: "stored"; readonly key: LibraryKey }
  /** Items were put aside: of this library, or (null) of the listing. */
  | { readonly kind: "rejected"; readonly key: LibraryKey | null; readonly rejects: readonly Reject[] }
  | { readonly kind: "failed"; readonly key: LibraryKey; readonly code: string; readonly message: string };
