import type { IncomingMessage } from "node:http";
import type { Route } from "../../../src/mock/mock-service.ts";
import { entryOf, findAnswer, JSON_TYPE, metadataOf } from "../../../src/mock/mock-service.ts";
import type { Organization } from "../../../src/mock/organization.ts";
import type { Fields, MockLibrary, MockScenario } from "./library.ts";

/** The JSON text of a list entry (specification 2.1). */
export const entrySource = (library: MockLibrary): string =>
  library.source?.entry ?? toSource(entryOf(library), library.entryFields);

/** The JSON text of the metadata (specification 2.2). */
export const metadataSource = (library: MockLibrary): string =>
  library.source?.metadata ?? toSource(metadataOf(library), library.metadataFields);

/** The JSON text of a scenario (specification 2.3). */
export function scenarioSource({ source, fields, ...specified }: MockScenario): string {
  return source ?? toSource(specified, fields);
}

const toSource = (specified: Fields, overrides: Fields | undefined): string =>
  JSON.stringify(overrides === undefined ? specified : { ...specified, ...overrides });

/** An answer with its headers and its items, which faults alter. */
export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Alternating names and values, as `writeHead` takes them, without Content-Length and Date. */
  readonly headers: readonly string[];
  /** The `Date` header. Null: no header. Undefined: the time of the service's clock. */
  readonly date?: string | null;
  /** The JSON texts of the items in the body. Null if the body is neither a list nor an object of the service. */
  readonly items: (() => readonly string[]) | null;
  readonly isList: boolean;
}

const OK = { status: 200, headers: ["content-type", JSON_TYPE] };

/** Returns a function that finds the correct answer to a request. */
export function createResponder(
  organization: Organization,
  apiKey: string,
): (req: IncomingMessage, route: Route) => HttpAnswer {
  const listings = createCache<readonly MockLibrary[]>();
  const metadata = createCache<MockLibrary>();
  const lists = createCache<MockLibrary>();

  function describe(library: MockLibrary): HttpAnswer {
    const body = metadata(library, () => Buffer.from(metadataSource(library)));
    return { ...OK, body, items: () => [metadataSource(library)], isList: false };
  }

  function listScenarios(library: MockLibrary): HttpAnswer {
    const text = library.source?.scenarios;
    if (text !== undefined) return { ...OK, body: Buffer.from(text), items: null, isList: true };
    const body = lists(library, () => listBytes(library.scenarios, scenarioSource));
    return { ...OK, body, items: () => library.scenarios.map(scenarioSource), isList: true };
  }

  function listLibraries(): HttpAnswer {
    const libraries = organization.libraries();
    const body = listings(libraries, () => listBytes(libraries, entrySource));
    return { ...OK, body, items: () => libraries.map(entrySource), isList: true };
  }

  return (req, route) => {
    const { status, value } = findAnswer(organization, apiKey, req, route);
    if (status !== 200) return jsonAnswer(status, value);
    const library = "owner" in route ? organization.get(route.owner, route.name) : undefined;
    if (library === undefined) return listLibraries();
    return route.kind === "metadata" ? describe(library) : listScenarios(library);
  };
}

/** A body is written once for each object: an edit replaces the object. */
function createCache<T extends object>(): (key: T, write: () => Buffer) => Buffer {
  const bodies = new WeakMap<T, Buffer>();
  return (key, write) => {
    const body = bodies.get(key) ?? write();
    bodies.set(key, body);
    return body;
  };
}

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

const jsonAnswer = (status: number, value: unknown): HttpAnswer => ({
  status,
  body: Buffer.from(JSON.stringify(value)),
  headers: ["content-type", JSON_TYPE],
  items: null,
  isList: false,
});

export const httpError = (status: number, message: string): HttpAnswer => jsonAnswer(status, { message });

/** The same answer with other items. */
export function withItems(answer: HttpAnswer, items: readonly string[]): HttpAnswer {
  const body = answer.isList ? listBytes(items, (item) => item) : Buffer.from(items.join(","));
  return { ...answer, body, items: () => items };
}

/** The same answer with one header set, or without it if `value` is null. */
export function withHeader(answer: HttpAnswer, name: string, value: string | readonly string[] | null): HttpAnswer {
  const lowerName = name.toLowerCase();
  if (lowerName === "date") return { ...answer, date: typeof value === "object" ? null : value };
  const others = answer.headers.filter((_, index) => answer.headers[index - (index % 2)]?.toLowerCase() !== lowerName);
  const values = value === null ? [] : typeof value === "string" ? [value] : value;
  return { ...answer, headers: [...others, ...values.flatMap((each) => [lowerName, each])] };
}
