import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import type { MockLibrary } from "../support/mock/library.ts";

/** JSON with its fields in a canonical order, because jsonb has its own order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** The content that a correct reader takes from one answer about a library. */
export type Said =
  | { readonly kind: "nothing" }
  | (Delivered & { readonly kind: "metadata"; readonly metadata: string | null })
  | (Delivered & { readonly kind: "scenarios"; readonly items: ReadonlyMap<string, string> });

interface Delivered {
  readonly partial: boolean;
  /** The answer gives a reason to doubt it: it comes from a cache, or names another library. */
  readonly suspect: boolean;
}

/** How an answer is corrupted. */
export interface Corruption {
  readonly name: string;
  readonly actions: readonly FaultAction[];
  /** The real time that the delivery takes. */
  readonly takesMs?: number;
  /** The effect on a listing; `disputed`: only the identity of one entry is reliable. */
  readonly listing?: "lost" | "incomplete" | "shorter" | "strange" | "disputed";
  /** The effect on content; `lie`: accepted although it is wrong; `aged`: accepted with a reason to doubt it. */
  readonly content?: "lost" | "partial" | "lie" | "aged" | "drift" | "misnamed";
  /** For `drift`: the omitted field. */
  readonly without?: string;
  /** For `shorter` and similar: the items that are left out or corrupted. */
  readonly items?: { readonly from: number; readonly count: number };
  /** Content of another time or library, sent instead. */
  readonly stale?: MockLibrary;
}

/** A libraryName that does not exist. */
export const NO_LIBRARY = "No library has this name";

export const GOOD: Corruption = { name: "good", actions: [] };

const isSuspect = ({ content }: Corruption) => content === "aged" || content === "misnamed";

export function saidOfMetadata(library: MockLibrary, corruption: Corruption): Said {
  const { content, stale, without } = corruption;
  if (content === "lost") return { kind: "nothing" };
  if (content === "partial") return { kind: "metadata", metadata: null, partial: true, suspect: false };
  const right = JSON.parse(metadataSource(stale ?? library));
  const name = content === "misnamed" ? { libraryName: NO_LIBRARY } : {};
  const sent = { ...right, ...name, ...(without === undefined ? {} : { [without]: undefined }) };
  return { kind: "metadata", metadata: canonical(sent), partial: false, suspect: isSuspect(corruption) };
}

export function saidOfScenarios(library: MockLibrary, corruption: Corruption): Said {
  const { content, stale, items, without } = corruption;
  if (content === "lost") return { kind: "nothing" };
  const all = (stale ?? library).scenarios;
  const kept = all.filter((_, at) => items === undefined || at < items.from || at >= items.from + items.count);
  if (content === "partial" && all.length > 0 && kept.length === 0) return { kind: "nothing" };
  // Removes the field as the mock does: reserialized JSON does not keep integers beyond 2^53.
  const sent = (source: string) =>
    without === undefined ? source : JSON.stringify({ ...JSON.parse(source), [without]: undefined });
  return {
    kind: "scenarios",
    items: itemsOf(kept.map((one) => sent(scenarioSource(one)))),
    partial: content === "partial",
    suspect: isSuspect(corruption),
  };
}

/** Canonical JSON by id, from the source texts of scenarios; ids can have any length. */
export function itemsOf(sources: readonly string[]): Map<string, string> {
  const idOf = (source: string) => /"scenarioId":(\d+)/.exec(source)?.[1] ?? "none";
  return new Map(sources.map((source) => [idOf(source), canonical(JSON.parse(source))]));
}
