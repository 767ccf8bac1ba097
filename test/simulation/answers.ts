import type { FaultAction } from "../../src/mock/faults.ts";
import type { MockLibrary } from "../../src/mock/nouns.ts";
import { metadataSource, scenarioSource } from "../../src/mock/wire-source.ts";

/** JSON with its fields in one order, since jsonb has an order of its own. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** What one answer about a library's content says to somebody who reads it rightly. */
export type Said =
  | { readonly kind: "nothing" }
  | { readonly kind: "metadata"; readonly metadata: string | null; readonly partial: boolean }
  | { readonly kind: "scenarios"; readonly items: ReadonlyMap<string, string>; readonly partial: boolean };

/** How the answer to a request is spoiled. */
export interface Spoiling {
  readonly name: string;
  readonly actions: readonly FaultAction[];
  /** Real time that its delivery takes. */
  readonly takesMs?: number;
  /** What it makes of a listing; `disputed`: of one entry only the identity can be believed. */
  readonly listing?: "lost" | "incomplete" | "shorter" | "strange" | "disputed";
  /** What it makes of content: `lie` is believed though it is wrong. */
  readonly content?: "lost" | "partial" | "lie" | "aged" | "drift" | "misnamed";
  /** For `drift`: the field that is left out. */
  readonly without?: string;
  /** For `shorter` and the like: which items it leaves out, or spoils. */
  readonly items?: { readonly from: number; readonly count: number };
  /** Content of another time that is sent instead. */
  readonly stale?: MockLibrary;
}

/** A libraryName that no library has. */
export const NO_LIBRARY = "No library has this name";

export const GOOD: Spoiling = { name: "good", actions: [] };

export function saidOfMetadata(library: MockLibrary, { content, stale, without }: Spoiling): Said {
  if (content === "lost") return { kind: "nothing" };
  if (content === "partial") return { kind: "metadata", metadata: null, partial: true };
  const right = JSON.parse(metadataSource(stale ?? library));
  const name = content === "misnamed" ? { libraryName: NO_LIBRARY } : {};
  const sent = { ...right, ...name, ...(without === undefined ? {} : { [without]: undefined }) };
  return { kind: "metadata", metadata: canonical(sent), partial: false };
}

export function saidOfScenarios(library: MockLibrary, spoiling: Spoiling): Said {
  const { content, stale, items, without } = spoiling;
  if (content === "lost") return { kind: "nothing" };
  const all = (stale ?? library).scenarios;
  const kept = all.filter((_, at) => items === undefined || at < items.from || at >= items.from + items.count);
  if (content === "partial" && all.length > 0 && kept.length === 0) return { kind: "nothing" };
  // As the mock takes a field away: what it writes anew holds no integer beyond 2^53 exactly.
  const sent = (source: string) =>
    without === undefined ? source : JSON.stringify({ ...JSON.parse(source), [without]: undefined });
  return {
    kind: "scenarios",
    items: itemsOf(kept.map((one) => sent(scenarioSource(one)))),
    partial: content === "partial",
  };
}

/** Canonical JSON by id, from the sources of scenarios; ids have any length. */
export function itemsOf(sources: readonly string[]): Map<string, string> {
  const idOf = (source: string) => /"scenarioId":(\d+)/.exec(source)?.[1] ?? "none";
  return new Map(sources.map((source) => [idOf(source), canonical(JSON.parse(source))]));
}
