import type { LibraryContent } from "../../model.ts";
import type { TextParsers } from "../content-fields.ts";

/** Part of the content was rejected: the rest is stored, and nothing is concluded from what is missing. */
export const isPartial = (library: LibraryContent) => library.rejects.length > 0 || library.listed.source === null;

export const scenarioCount = ({ scenarios }: LibraryContent) =>
  scenarios.kind === "memory" ? scenarios.scenarios.length : scenarios.count;

/** The facts and rules that storing needs beyond the content. */
export interface SaveContext extends TextParsers {
  readonly runId: number;
  /** Decides whether the scenarios that a whole list lacks may be marked as removed. */
  readonly guard: (numbers: { live: number; listed: number; missing: number }) => "mark" | "withhold";
}
