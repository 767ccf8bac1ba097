import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import type { Fields, MockLibrary, MockScenario, Organization } from "./types.ts";

/** An answer before a fault changes its delivery. */
export interface Answer {
  readonly status: number;
  /** Alternating names and values, as `writeHead` takes them, without Content-Length and Date. */
  readonly headers: readonly string[];
  /** The `Date` header. Null: no header. Undefined: the time of the service's clock. */
  readonly date?: string | null;
  readonly body: Buffer;
  /** The JSON texts of the items in the body. Null if the body is neither a list nor an object of the service. */
  readonly items: (() => readonly string[]) | null;
  readonly isList: boolean;
}

export interface Answers {
  listing(): Answer;
  metadata(library: MockLibrary): Answer;
  scenarios(library: MockLibrary): Answer;
}

const JSON_TYPE = ["content-type", "application/json; charset=utf-8"];

/** Caches each answer until its library changes. An edit replaces the library object, so the object is the cache key. */
export function createAnswers(organization: Organization): Answers {
  const metadata = new WeakMap<MockLibrary, Answer>();
  const scenarios = new WeakMap<MockLibrary, Answer>();
  let listing: { readonly version: number; readonly answer: Answer } | null = null;
  return {
    listing() {
      if (listing?.version !== organization.version) {
        listing = { version: organization.version, answer: listAnswer(organization.libraries(), entrySource) };
      }
      return listing.answer;
    },
    metadata: (library) => cached(metadata, library, () => objectAnswer(metadataSource(library))),
    scenarios: (library) => cached(scenarios, library, () => scenariosAnswer(library)),
  };
}

function cached(cache: WeakMap<MockLibrary, Answer>, library: MockLibrary, create: () => Answer): Answer {
  const answer = cache.get(library) ?? create();
  cache.set(library, answer);
  return answer;
}

function scenariosAnswer(library: MockLibrary): Answer {
  const source = library.source?.scenarios;
  if (source !== undefined) return textAnswer(200, source);
  return listAnswer(library.scenarios, scenarioSource);
}

function listAnswer<T>(values: readonly T[], source: (value: T) => string): Answer {
  const items = (): readonly string[] => values.map(source);
  return { status: 200, headers: JSON_TYPE, body: listBytes(values, source), items, isList: true };
}

function objectAnswer(source: string): Answer {
  return { status: 200, headers: JSON_TYPE, body: Buffer.from(source), items: () => [source], isList: false };
}

function textAnswer(status: number, text: string): Answer {
  return { status, headers: JSON_TYPE, body: Buffer.from(text), items: null, isList: false };
}

/** The specification does not define the body of an error: similar services send an object with a message. */
export const errorAnswer = (status: number, message: string): Answer => textAnswer(status, JSON.stringify({ message }));

/** The same answer with other items. */
export function withItems(answer: Answer, items: readonly string[]): Answer {
  const body = answer.isList ? listBytes(items, (item) => item) : Buffer.from(items.join(","));
  return { ...answer, body, items: () => items };
}

/** The same answer with one header set, or without it if `value` is null. */
export function withHeader(answer: Answer, name: string, value: string | readonly string[] | null): Answer {
  const lowerName = name.toLowerCase();
  if (lowerName === "date") return { ...answer, date: typeof value === "object" ? null : value };
  const others = answer.headers.filter((_, index) => answer.headers[index - (index % 2)]?.toLowerCase() !== lowerName);
  const values = value === null ? [] : typeof value === "string" ? [value] : value;
  return { ...answer, headers: [...others, ...values.flatMap((each) => [lowerName, each])] };
}

/** Compresses answers for clients that accept gzip. Each body is compressed only once. */
export function createCompressor(): (answer: Answer, req: IncomingMessage) => Answer {
  const cache = new WeakMap<Buffer, Buffer>();
  return (answer, req) => {
    const accepted = req.headers["accept-encoding"];
    if (typeof accepted !== "string" || !/\bgzip\b/.test(accepted)) return answer;
    if (answer.body.length === 0 || answer.headers.includes("content-encoding")) return answer;
    const body = cache.get(answer.body) ?? gzipSync(answer.body);
    cache.set(answer.body, body);
    return withHeader({ ...answer, body }, "content-encoding", "gzip");
  };
}

/** The JSON text of a list entry (specification 2.1). */
export function entrySource(library: MockLibrary): string {
  const { owner, name, lastModified, entryFields, source } = library;
  return source?.entry ?? toSource({ libraryName: name, uploadUser: owner, lastModified }, entryFields);
}

/** The JSON text of the metadata (specification 2.2). */
export function metadataSource(library: MockLibrary): string {
  const { name, libraryOwner, lastModified, fileSize, packageName, packageVersion, description } = library;
  return (
    library.source?.metadata ??
    toSource(
      { libraryName: name, libraryOwner, lastModified, fileSize, packageName, packageVersion, description },
      library.metadataFields,
    )
  );
}

/** The JSON text of a scenario (specification 2.3). */
export function scenarioSource(scenario: MockScenario): string {
  const { scenarioId, parentId, scenarioName, isResult, lastModified, description } = scenario;
  return (
    scenario.source ??
    toSource({ scenarioId, parentId, scenarioName, isResult, lastModified, description }, scenario.fields)
  );
}

const toSource = (specified: Fields, overrides: Fields | undefined): string =>
  JSON.stringify(overrides === undefined ? specified : { ...specified, ...overrides });

/** A million items as strings take several times the memory of their bytes, so a list is encoded in chunks. */
const ITEMS_PER_CHUNK = 2_000;

function listBytes<T>(items: readonly T[], source: (item: T) => string): Buffer {
  const chunks = [Buffer.from("[")];
  for (let from = 0; from < items.length; from += ITEMS_PER_CHUNK) {
    const text = items
      .slice(from, from + ITEMS_PER_CHUNK)
      .map(source)
      .join(",");
    chunks.push(Buffer.from(from === 0 ? text : `,${text}`));
  }
  return Buffer.concat([...chunks, Buffer.from("]")]);
}
