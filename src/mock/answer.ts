import type { MockLibrary, Organization } from "./nouns.ts";
import { entrySource, listBytes, metadataSource, scenarioSource } from "./wire-source.ts";

/** An answer before a fault changes its delivery. */
export interface Answer {
  readonly status: number;
  /** Names and values in turn, as `writeHead` takes them; without Content-Length and Date. */
  readonly headers: readonly string[];
  /** The `Date` header; null sends none, undefined the service's clock. */
  readonly date?: string | null;
  readonly body: Buffer;
  /** The source texts that the body is made of; null when it is neither a list nor an object of the service. */
  readonly items: (() => readonly string[]) | null;
  readonly isList: boolean;
}

export interface Answers {
  listing(): Answer;
  metadata(library: MockLibrary): Answer;
  scenarios(library: MockLibrary): Answer;
}

const JSON_TYPE = ["content-type", "application/json; charset=utf-8"];

/** Caches each answer until its library changes. Libraries are values, so a changed library is another key. */
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
    metadata: (library) => keep(metadata, library, () => objectAnswer(metadataSource(library))),
    scenarios: (library) => keep(scenarios, library, () => scenariosAnswer(library)),
  };
}

function keep<K extends object>(kept: WeakMap<K, Answer>, key: K, make: () => Answer): Answer {
  const found = kept.get(key);
  if (found !== undefined) return found;
  const answer = make();
  kept.set(key, answer);
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

/** The shape of an error is not specified: an object with a message is what services of this family send. */
export const errorAnswer = (status: number, message: string): Answer => textAnswer(status, JSON.stringify({ message }));

/** The same answer made of other items. */
export function withItems(answer: Answer, items: readonly string[]): Answer {
  const body = answer.isList ? listBytes(items, (item) => item) : Buffer.from(items.join(","));
  return { ...answer, body, items: () => items };
}

/** The same answer with one header set, or without it. */
export function withHeader(answer: Answer, name: string, value: string | readonly string[] | null): Answer {
  const wanted = name.toLowerCase();
  const others = answer.headers.filter((_, index) => answer.headers[index - (index % 2)]?.toLowerCase() !== wanted);
  if (wanted === "date") return { ...answer, date: typeof value === "object" ? null : value };
  const values = value === null ? [] : typeof value === "string" ? [value] : value;
  return { ...answer, headers: [...others, ...values.flatMap((each) => [wanted, each])] };
}
