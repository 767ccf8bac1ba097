import type { MockLibrary as CorrectLibrary, MockScenario as CorrectScenario } from "../../../src/mock/library.ts";
import type { Organization } from "../../../src/mock/organization.ts";

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [field: string]: Json };

/** Overrides fields of an object that is sent: with other values or types, or with unknown fields. `undefined` omits one. */
export type Fields = Readonly<Record<string, Json | undefined>>;

/** A scenario whose answer may differ from what the service would send. */
export interface MockScenario extends CorrectScenario {
  readonly fields?: Fields;
  /** JSON text sent instead of the object: for integers beyond 2^53, duplicate keys, escapes that no serializer writes. */
  readonly source?: string;
}

/** A library whose answers may differ from what the service would send. */
export interface MockLibrary extends CorrectLibrary {
  readonly scenarios: readonly MockScenario[];
  readonly entryFields?: Fields;
  readonly metadataFields?: Fields;
  /** JSON texts sent instead of the list entry, the metadata object and the scenario list. */
  readonly source?: { readonly entry?: string; readonly metadata?: string; readonly scenarios?: string };
}

/**
 * Replaces a library by a copy with these changes, and returns the copy.
 * @throws if there is no such library
 */
export function changeLibrary(
  organization: Organization,
  owner: string,
  name: string,
  change: Partial<MockLibrary>,
): MockLibrary {
  const library = organization.get(owner, name);
  if (library === undefined) throw new Error(`the organization has no library ${owner}/${name}`);
  const changed = { ...library, ...change };
  if (changed.owner !== owner || changed.name !== name) organization.remove(owner, name);
  organization.put(changed);
  return changed;
}

/** A copy of the library's scenarios with one of them changed, or without it if `change` is null. */
export function changeScenario(
  library: MockLibrary,
  scenarioId: number,
  change: Partial<MockScenario> | null,
): MockScenario[] {
  return library.scenarios.flatMap((scenario) => {
    if (scenario.scenarioId !== scenarioId) return [scenario];
    return change === null ? [] : [{ ...scenario, ...change }];
  });
}
