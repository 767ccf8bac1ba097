import { editDistance } from "../edit-distance.ts";
import { NAMES, SECRET_NAMES } from "./settings.ts";

const KNOWN: ReadonlySet<string> = new Set([...NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)]);

/**
 * Names that look like a setting and are none, because a misspelt setting would otherwise be ignored silently.
 * DATABASE_HOST, DB_URL and the like are excluded: another program of the same machine may use them.
 */
export function unknownNames(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment).filter((name) => !KNOWN.has(name) && (name.startsWith(PREFIX) || isNearMiss(name)));
}

const PREFIX = "SIMCAT_";
/** A name with at most this many wrong letters counts as a misspelt setting. */
const MAX_WRONG_LETTERS = 2;

function isNearMiss(name: string): boolean {
  const text = name.toUpperCase();
  return [...KNOWN].some((known) => editDistance(text, known, MAX_WRONG_LETTERS) <= MAX_WRONG_LETTERS);
}

/** The setting with the most similar name; null if none is similar. */
export function nearestName(unknown: string): string | null {
  const text = unknown.toUpperCase();
  const texts = text.startsWith(PREFIX) ? [text, text.slice(PREFIX.length)] : [text];
  const distances = texts.flatMap((candidate) => {
    const limit = Math.floor(candidate.length / 3);
    const all = [...KNOWN].map((name) => ({ name, distance: editDistance(candidate, name, limit) }));
    return all.filter(({ distance }) => distance <= limit);
  });
  return distances.sort((a, b) => a.distance - b.distance)[0]?.name ?? null;
}

/** `unknown setting X (ignored); did you mean Y?`, in two parts. */
export function describeUnknown(name: string): { readonly text: string; readonly hint: string | null } {
  const nearest = nearestName(name);
  return { text: `unknown setting ${name} (ignored)`, hint: nearest === null ? null : `did you mean ${nearest}?` };
}
