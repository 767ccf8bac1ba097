import type { Random } from "../../src/mock/random.ts";
import { metadataSource, scenarioSource } from "../support/mock/answer.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import type { Corruption } from "./answers.ts";

const FLUSHED = 40;

/** Answers that allow no conclusion, for any request. */
const LOST: readonly (readonly [name: string, action: FaultAction, takesMs?: number])[] = [
  ["500", { kind: "status", status: 500 }],
  ["502", { kind: "status", status: 502 }],
  ["503 Retry-After", { kind: "status", status: 503, headers: { "retry-after": "2" } }],
  ["429", { kind: "status", status: 429 }],
  ["429 Retry-After", { kind: "status", status: 429, headers: { "retry-after": "1" } }],
  ["429 long", { kind: "status", status: 429, headers: { "retry-after": "3600" } }],
  ["408", { kind: "status", status: 408 }],
  ["404", { kind: "status", status: 404 }],
  ["403", { kind: "status", status: 403 }],
  ["401", { kind: "status", status: 401 }],
  ["400", { kind: "status", status: 400 }],
  ["204", { kind: "status", status: 204, body: "" }],
  ["206", { kind: "status", status: 206, keepBody: true }],
  ["html", { kind: "html" }],
  ["an error object", { kind: "wrongBody", body: '{"message":"error"}' }],
  ["null", { kind: "wrongBody", body: "null" }],
  ["no body", { kind: "wrongBody", body: "" }],
  ["bad gzip", { kind: "headers", set: { "content-encoding": "gzip" } }],
  ["unknown encoding", { kind: "headers", set: { "content-encoding": "x-unheard-of" } }],
  ["redirect", { kind: "status", status: 302, headers: { location: "http://127.0.0.1:9/" } }],
  ["placeholder", { kind: "wrongBody", body: '{"libraryName":"string","scenarioId":"integer"}' }],
  ["huge headers", { kind: "headers", set: { "x-padding": "x".repeat(1 << 17) } }],
  ["reset", { kind: "reset" }],
  ["reset in the body", { kind: "reset", afterBytes: 1 }, FLUSHED],
  ["cut, length", { kind: "truncate", how: "length" }, FLUSHED],
  ["cut, chunked", { kind: "truncate", how: "chunked" }, FLUSHED],
  ["cut, close", { kind: "truncate", how: "close" }, FLUSHED],
  ["hangs", { kind: "hang" }],
  ["hangs behind the head", { kind: "hang", after: "head" }, FLUSHED],
];

function drawLost(random: Random): Corruption {
  const [name, action, takesMs = 0] = random.pick(LOST);
  return { name, actions: [action], takesMs, listing: "lost", content: "lost" };
}

const HARMLESS: readonly Corruption[] = [
  { name: "byte order mark", actions: [{ kind: "bom" }] },
  { name: "closed behind it", actions: [{ kind: "closeKeepAlive", when: "afterAnswer" }] },
  { name: "without Date", actions: [{ kind: "headers", set: { date: null } }] },
];

/** The listing is complete, but announces another page. */
const PAGED: FaultAction = { kind: "headers", set: { link: '</libs?page=2>; rel="next"' } };

/** A wrong answer to `GET /libs`. */
export function corruptListing(size: number, random: Random): Corruption {
  const die = random.below(20);
  if (die < 8) return drawLost(random);
  if (die < 10) return random.pick(HARMLESS);
  const from = random.below(Math.max(1, size));
  const items = { from, count: random.between(1, Math.max(1, size >> 1)) };
  const dropped: FaultAction = { kind: "dropItems", ...items };
  if (die < 12) return { name: `drops ${items.count} from ${from}`, actions: [dropped], listing: "shorter", items };
  if (die < 14)
    return { name: "empty", actions: [{ kind: "dropItems" }], listing: "shorter", items: { from: 0, count: size } };
  if (die < 16)
    return {
      name: `page without ${items.count} from ${from}`,
      actions: [dropped, PAGED],
      listing: "incomplete",
      items,
    };
  if (die < 18 && size > 0) {
    const bad: FaultAction = {
      kind: "alterItem",
      index: from,
      setSource: { libraryName: random.pick(["null", "5", "{}"]) },
    };
    return { name: `unreadable entry ${from}`, actions: [bad], listing: "incomplete", items: { from, count: 1 } };
  }
  if (die < 19 && size > 0) return disputeEntry(from, random);
  const strangers = Array.from({ length: random.between(1, 12) }, (_, at) => ({
    libraryName: `Stranger ${at}`,
    uploadUser: "another.organization",
    lastModified: "2020-01-01 at 1:01 PM",
  }));
  return {
    name: "another organization",
    actions: [{ kind: "wrongBody", body: JSON.stringify(strangers) }],
    listing: "strange",
  };
}

/** Two entries of one library, or one with an invalid date: the identity remains clear. */
function disputeEntry(index: number, random: Random): Corruption {
  const items = { from: index, count: 1 };
  const [name, action, listing] = random.pick<readonly [string, FaultAction, Corruption["listing"]]>([
    ["repeats", { kind: "duplicateItem", index }, undefined],
    ["contradicts", { kind: "duplicateItem", index, set: { lastModified: "2001-01-01 at 1:01 AM" } }, "disputed"],
    ["gives no date for", { kind: "alterItem", index, setSource: { lastModified: "5" } }, "disputed"],
  ]);
  return { name: `${name} entry ${index}`, actions: [action], ...(listing ? { listing, items } : {}) };
}

/** A wrong answer about a library. `earlier` holds the service's previous versions of it. */
export function corruptContent(
  what: "metadata" | "scenarios",
  library: MockLibrary,
  earlier: readonly MockLibrary[],
  random: Random,
): Corruption {
  const count = library.scenarios.length;
  if (what === "scenarios" && count > 0 && random.chance(0.25)) {
    return repeatScenario(library, random.below(count), random);
  }
  const die = random.below(20);
  if (die < 9) return drawLost(random);
  if (die < 11) return random.pick(HARMLESS);
  if (die < 13) return { name: "Age", actions: [{ kind: "headers", set: { age: "30" } }], content: "aged" };
  if (die < 15 && earlier.length > 0) return staleContent(what, random.pick(earlier));
  if (what === "metadata") {
    const bad: FaultAction = { kind: "alterItem", index: 0, setSource: { description: '"\\u0000"' } };
    return { name: "bad metadata", actions: [bad], content: "partial" };
  }
  if (count === 0) return drawLost(random);
  const from = random.below(count);
  if (die < 18) {
    const bad: FaultAction = { kind: "alterItem", index: from, setSource: random.pick(BAD_FIELDS) };
    return { name: `bad scenario at ${from}`, actions: [bad], content: "partial", items: { from, count: 1 } };
  }
  const items = { from, count: random.between(1, count) };
  return {
    name: `leaves out ${items.count} from ${from}`,
    actions: [{ kind: "dropItems", ...items }],
    content: "lie",
    items,
  };
}

/** One scenario is in the list twice: spelled differently, or with another name. */
function repeatScenario(library: MockLibrary, from: number, random: Random): Corruption {
  const sources = library.scenarios.map(scenarioSource);
  const source = sources[from] ?? "{}";
  if (library.scenarios[from]?.source === undefined && random.chance(0.5)) {
    const contradiction: FaultAction = { kind: "duplicateItem", index: from, set: { scenarioName: "Contradicts" } };
    const items = { from, count: 1 };
    return { name: `contradicts scenario ${from}`, actions: [contradiction], content: "partial", items };
  }
  const text = `[${sources.join(",")}, ${source.replace(/"scenarioName"/, '"scenario\\u004eame" ')} ]`;
  return { name: `repeats scenario ${from}`, actions: [{ kind: "wrongBody", body: text }] };
}

const BAD_FIELDS: readonly Readonly<Record<string, string>>[] = [
  { scenarioId: "null" },
  { scenarioId: "1.5" },
  { scenarioId: '"abc"' },
  { description: '"a\\u0000b"' },
  { isResult: '"yes"' },
];

/** A cache's answer: the content of another time, marked as such. */
export function staleContent(what: "metadata" | "scenarios", stale: MockLibrary): Corruption {
  const text = what === "metadata" ? metadataSource(stale) : `[${stale.scenarios.map(scenarioSource).join(",")}]`;
  const actions: FaultAction[] = [
    { kind: "wrongBody", body: text },
    { kind: "headers", set: { age: "600" } },
  ];
  return { name: "stale", actions, content: "aged", stale };
}
