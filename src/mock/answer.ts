import type { Fields, MockLibrary, MockScenario, Organization } from "./types.ts";

export interface Answer {
  readonly status: number;
  /** JSON text. */
  readonly body: Buffer;
}

export interface Answers {
  listing(): Answer;
  metadata(library: MockLibrary): Answer;
  scenarios(library: MockLibrary): Answer;
}

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
    metadata: (library) => cached(metadata, library, () => textAnswer(200, metadataSource(library))),
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
  return source === undefined ? listAnswer(library.scenarios, scenarioSource) : textAnswer(200, source);
}

const listAnswer = <T>(values: readonly T[], source: (value: T) => string): Answer => ({
  status: 200,
  body: listBytes(values, source),
});

const textAnswer = (status: number, text: string): Answer => ({ status, body: Buffer.from(text) });

/** The specification does not define the body of an error: similar services send an object with a message. */
export const errorAnswer = (status: number, message: string): Answer => textAnswer(status, JSON.stringify({ message }));

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

export function listBytes<T>(items: readonly T[], source: (item: T) => string): Buffer {
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
