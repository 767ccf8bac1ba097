import type { Fields, MockLibrary, MockScenario } from "./nouns.ts";

/** A list entry's JSON source (specification 2.1). */
export function entrySource(library: MockLibrary): string {
  const { owner, name, lastModified, entryFields, source } = library;
  return source?.entry ?? toSource({ libraryName: name, uploadUser: owner, lastModified }, entryFields);
}

/** The metadata's JSON source (specification 2.2). */
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

/** A scenario's JSON source (specification 2.3). */
export function scenarioSource(scenario: MockScenario): string {
  const { scenarioId, parentId, scenarioName, isResult, lastModified, description } = scenario;
  return (
    scenario.source ??
    toSource({ scenarioId, parentId, scenarioName, isResult, lastModified, description }, scenario.fields)
  );
}

const toSource = (wire: Fields, fields: Fields | undefined): string =>
  JSON.stringify(fields === undefined ? wire : { ...wire, ...fields });

const SLICE = 2_000;

/** A list's bytes. In slices: a million items as strings cost several times their bytes. */
export function listBytes<T>(items: readonly T[], source: (item: T) => string): Buffer {
  const chunks = [Buffer.from("[")];
  for (let from = 0; from < items.length; from += SLICE) {
    const text = items
      .slice(from, from + SLICE)
      .map(source)
      .join(",");
    chunks.push(Buffer.from(from === 0 ? text : `,${text}`));
  }
  return Buffer.concat([...chunks, Buffer.from("]")]);
}
