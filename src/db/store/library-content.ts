import type { LibraryContent } from "../../model.ts";
import type { ReadMicroseconds } from "./scenario-rows.ts";

/** Something of it could not be read: store the rest, and conclude nothing from what it lacks. */
export const isPartial = (one: LibraryContent) => one.rejects.length > 0 || one.listed.source === null;

export const scenarioCount = (one: LibraryContent) =>
  one.scenarios.kind === "memory" ? one.scenarios.scenarios.length : one.scenarios.count;

/** What storing needs to know beyond the content itself. */
export interface SaveContext {
  readonly runId: number;
  readonly microseconds: ReadMicroseconds;
  /** Reads a file size's text into bytes; null where it is not known what it means. */
  readonly bytes: (fileSize: string | null) => number | null;
  /** Whether the scenarios that a whole list lacks may be marked as removed. */
  readonly guard: (numbers: { live: number; listed: number; missing: number }) => "mark" | "withhold";
}
