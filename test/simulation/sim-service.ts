import { parseRoute } from "../../src/mock/mock-service.ts";
import type { Random } from "../../src/mock/random.ts";
import { entrySource } from "../support/mock/answer.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { startMockService } from "../support/mock/mock-service.ts";
import { type Corruption, GOOD, type Said, saidOfMetadata, saidOfScenarios } from "./answers.ts";
import { corruptContent, corruptListing, staleContent } from "./corrupt-answers.ts";
import type { EditHistory, EditOptions } from "./edit-history.ts";
import type { Heard, Ledger } from "./ledger.ts";
import { keyOf } from "./reader.ts";
import type { Scheduler } from "./scheduler.ts";
import { corruptSwapped, drawSwap, type Swap } from "./swaps.ts";
import type { VirtualTime } from "./virtual-time.ts";
import { SECOND } from "./world.ts";

export const API_KEY = "simulated-key";

/** The behavior of the service toward one run; numbers are probabilities unless stated. */
export interface Weather {
  /** That an answer is corrupted. */
  readonly listing: number;
  readonly content: number;
  /** That an edit happens just before or just after an answer. */
  readonly edits: number;
  /** The maximum delay of an answer in milliseconds. */
  readonly slowness: number;
  /** A field that no scenario, or no metadata, of most or all libraries has in this run; null in most. */
  readonly drift: { readonly what: "metadata" | "scenarios"; readonly field: string } | null;
  /** That a request is answered with another library's content, or with metadata that names no existing library. */
  readonly swaps: number;
  /** The library whose content never arrives. */
  readonly broken: string | null;
  /** That a cache answers the listing, as it was between two earlier runs. */
  readonly cached: number;
}

export const CALM: Weather = {
  listing: 0,
  content: 0,
  edits: 0,
  slowness: 0,
  drift: null,
  swaps: 0,
  broken: null,
  cached: 0,
};

interface SimServiceOptions extends Omit<EditOptions, "dateSource"> {
  readonly clock: () => Date;
  readonly hasDateHeader: boolean;
  readonly time: VirtualTime;
  /** For what newer models draw, so that the other events of a seed do not depend on it. */
  readonly rare: Random;
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly edits: EditHistory;
}

/** A run whose requests are expected. */
interface Known {
  readonly heard: Heard;
  readonly weather: Weather;
  /** Decided once per library, so that both of its answers are swapped alike. */
  readonly swaps: Map<string, Swap>;
  /** Libraries that a drift leaves as they are: what a library lost in all of its scenarios is drift, whatever others have. */
  readonly intact: ReadonlySet<string>;
}

/** A shorter list may lose any scenarios without a second read. */
const LONG = 10;

/** A mock of the service in which each answer waits for its turn. */
export async function startSimService(options: SimServiceOptions) {
  const { organization, clock, now, time, random, rare, scheduler, ledger, edits, note } = options;
  const runs = new Map<string, Known>();
  /** The number of requests for each library's content. */
  const reads = new Map<string, number>();
  /** The number of wrong or old answers about each library. */
  const misled = new Map<string, number>();
  /** Libraries with a false answer that the program has no reason to doubt. */
  const lied = new Set<string>();
  /** Libraries that a listing lacked that the program has to accept. */
  const hidden = new Set<string>();
  /** The listings between the runs, as a cache keeps them. */
  const listings: { readonly at: number; readonly libraries: readonly MockLibrary[] }[] = [];
  /** Lists that a cache goes on to answer, with the number of answers that are left. */
  const kept = new Map<string, { readonly stale: MockLibrary; left: number }>();

  const mislead = (heard: Heard, key: string) => {
    heard.misled = true;
    misled.set(key, (misled.get(key) ?? 0) + 1);
  };

  function tellListing(heard: Heard, { listing, items }: Corruption): void {
    if (listing === "lost" || heard.listing !== null) return;
    if (listing !== undefined) heard.misled = true;
    const all = organization.libraries().map(keyOf);
    const left = all.filter((_, at) => items === undefined || at < items.from || at >= items.from + items.count);
    const bad = new Set(listing === "disputed" ? all.slice(items?.from, (items?.from ?? 0) + 1) : []);
    const keys = new Set(listing === "disputed" ? all : listing === "strange" ? ["another organization"] : left);
    if (listing !== undefined && listing !== "disputed") for (const key of all) if (!keys.has(key)) hidden.add(key);
    heard.listing = { keys, complete: listing !== "incomplete", bad, cachedAt: null };
  }

  /** An earlier listing, from a cache; null if there is none yet. */
  function tellCached(heard: Heard): Corruption | null {
    const old = listings.filter(({ at }) => at < now() - 2 * SECOND);
    if (old.length === 0 || heard.listing !== null) return null;
    const { at, libraries } = rare.pick(old.slice(-4));
    const keys = new Set(libraries.map(keyOf));
    for (const key of keys) mislead(heard, key);
    heard.misled = true;
    heard.listing = { keys, complete: true, bad: new Set(), cachedAt: at };
    const age = String(Math.floor((now() - at) / SECOND));
    const text = `[${libraries.map(entrySource).join(",")}]`;
    return {
      name: `cached ${age} s ago`,
      actions: [
        { kind: "wrongBody", body: text },
        { kind: "headers", set: { age } },
      ],
    };
  }

  function tellContent(
    heard: Heard,
    what: "metadata" | "scenarios",
    key: string,
    library: MockLibrary | undefined,
    corruption: Corruption,
  ): void {
    const nothing: Said = { kind: "nothing" };
    const right = what === "metadata" ? saidOfMetadata : saidOfScenarios;
    const said = library === undefined ? nothing : right(library, corruption);
    const { content } = corruption;
    if (content === "lie" || content === "aged" || content === "drift" || content === "misnamed") mislead(heard, key);
    if (content === "aged") heard.aged = true;
    if (content === "lie" || content === "drift") lied.add(key);
    if (what === "metadata") reads.set(key, (reads.get(key) ?? 0) + 1);
    ledger.said(heard, key, what, said);
  }

  /** Sometimes a cache answers several reads with one list, from a time when a long library had half of its scenarios. */
  function keptList(key: string, library: MockLibrary): Corruption | null {
    const { scenarios } = library;
    if (!kept.has(key) && scenarios.length >= LONG && rare.chance(0.2))
      kept.set(key, { stale: { ...library, scenarios: scenarios.slice(0, scenarios.length / 2) }, left: 3 });
    const cache = kept.get(key);
    if (cache === undefined || cache.left === 0) return null;
    cache.left -= 1;
    return { ...staleContent("scenarios", cache.stale), name: "kept" };
  }

  function swapOf({ heard, weather, swaps }: Known, key: string): Swap {
    const known = swaps.get(key);
    if (known !== undefined) return known;
    const swap = drawSwap(weather.swaps, key, organization, heard, random);
    swaps.set(key, swap);
    if (typeof swap === "object") heard.swapped.add(key);
    return swap;
  }

  function corrupt(known: Known, what: string, key: string, library: MockLibrary | undefined): Corruption {
    const { weather } = known;
    if (what === "listing") return random.chance(weather.listing) ? corruptListing(organization.size, random) : GOOD;
    if (library === undefined || (what !== "metadata" && what !== "scenarios")) return GOOD;
    if (weather.broken === key) return { name: "broken", actions: [{ kind: "status", status: 500 }], content: "lost" };
    // What runs of drift and of swapped answers may store is judged by their rules alone.
    const mayKeep = what === "scenarios" && weather !== CALM && weather.drift === null && weather.swaps === 0;
    const old = mayKeep ? keptList(key, library) : null;
    if (old !== null) return old;
    if (random.chance(weather.content)) return corruptContent(what, library, edits.earlier(key), random);
    if (weather.swaps > 0) return corruptSwapped(what, library, swapOf(known, key));
    if (weather.drift?.what !== what || known.intact.has(key)) return GOOD;
    if (what === "scenarios" && library.scenarios.length === 0) return GOOD;
    const { field } = weather.drift;
    const action = { kind: "alterItem", index: what === "metadata" ? 0 : "all", remove: [field] } as const;
    return { name: `drift of ${field}`, actions: [action], content: "drift", without: field };
  }

  async function answer(path: string, run: string, go: () => void): Promise<void> {
    const known = runs.get(run);
    if (known === undefined) throw new Error(`a request of nobody: ${run} ${path}`);
    const { heard, weather } = known;
    time.advanceTo(time.now() + random.between(0, 20));
    if (random.chance(0.2)) time.advanceTo(time.now() + random.below(weather.slowness + 1));
    const route = parseRoute(path);
    const key = "owner" in route ? keyOf(route) : "";
    const library = () => ("owner" in route ? organization.get(route.owner, route.name) : undefined);
    if (random.chance(weather.edits)) edits.edit(random.chance(0.7) ? library() : undefined);
    const cached = route.kind === "listing" && rare.chance(weather.cached) ? tellCached(heard) : null;
    const corruption = cached ?? corrupt(known, route.kind, key, library());
    const dateless: Corruption["actions"] = options.hasDateHeader ? [] : [{ kind: "headers", set: { date: null } }];
    const action = [...dateless, ...corruption.actions];
    mock.script(action.length > 0 ? [{ match: { operation: "any" }, action }] : []);
    note(`      ${run} ${path} → ${corruption.name}`);
    if (route.kind === "listing" && cached === null) tellListing(heard, corruption);
    else if (route.kind === "metadata" || route.kind === "scenarios") {
      tellContent(heard, route.kind, key, library(), corruption);
    }
    go();
    // The answer is made in the next microtasks; an edit after it happens before its bytes arrive.
    for (let turn = 0; turn < 8; turn += 1) await null;
    if (random.chance(weather.edits)) edits.edit(random.chance(0.7) ? library() : undefined);
    if (random.chance(0.2)) time.advanceTo(time.now() + random.below(weather.slowness + 1));
    if (corruption.takesMs) await new Promise((resolve) => setTimeout(resolve, corruption.takesMs));
  }

  const mock = await startMockService({
    organization,
    apiKey: API_KEY,
    clock,
    onRequest({ path, headers }) {
      const run = String(headers["user-agent"]).split("/")[1] ?? "";
      return new Promise<void>((resolve) => {
        scheduler.hold({ worker: run, label: `request ${path}`, happen: () => answer(path, run, resolve) });
      });
    },
  });

  return {
    mock,
    organization,
    /** Expects requests of this run from now on, in this weather. */
    expect(heard: Heard, weather: Weather): void {
      const intact = weather.drift && rare.chance(0.5) ? organization.libraries().filter(() => rare.chance(0.5)) : [];
      runs.set(heard.run, { heard, weather, swaps: new Map(), intact: new Set(intact.map(keyOf)) });
    },
    reads,
    misled,
    lied,
    hidden,
    keepListing: () => void listings.push({ at: now(), libraries: organization.libraries() }),
  };
}
