import type { Random } from "./random.ts";
import {
  COURSES,
  FINAL_NAMES,
  FIRST_NAMES,
  LAST_NAMES,
  PACKAGES,
  PLACES,
  SCENARIOS,
  SENTENCES,
  THEMES,
} from "./vocabulary.ts";

const KIB = 1024;

/** Different user names, `example.user` first. */
export function createOwnerNames(random: Random, count: number): string[] {
  const names = new Set(["example.user"]);
  while (names.size < count) {
    const person = `${random.pick(FIRST_NAMES)}${random.chance(0.6) ? "-" : "."}${random.pick(LAST_NAMES)}`;
    names.add(names.has(person) ? `${person}${names.size}` : person);
  }
  return [...names].slice(0, count);
}

export function createLibraryName(random: Random): string {
  const theme = random.pick(THEMES);
  const kind = random.below(20);
  if (kind < 7) return `${theme} (${random.pick(PLACES)})${createSuffix(random)}`;
  if (kind < 12) return `${theme} - ${random.pick(PLACES)}${createSuffix(random)}`;
  if (kind < 15) return `${theme} - ${random.between(5, 100)} timesteps - ${random.between(2, 40)} iterations`;
  if (kind < 18) return `${theme} ${random.between(1990, 2025)}-${random.between(2030, 2100)}`;
  return `${random.pick(COURSES)}Course${random.chance(0.5) ? "" : random.between(2, 30)}`;
}

const createSuffix = (random: Random): string => (random.chance(0.2) ? " - Sample" : "");

export function createScenarioName(random: Random): string {
  const kind = random.below(10);
  if (kind < 6) return random.pick(SCENARIOS);
  if (kind < 8) return `[${random.between(1, 9)}] ${random.pick(SCENARIOS)}`;
  return `${random.pick(THEMES)} - ${random.between(5, 60)} timesteps - ${random.between(2, 20)} iterations`;
}

/** A name that people give to a result to find it again. */
export const createFinalName = (random: Random): string => random.pick(FINAL_NAMES);

/** Two in five are null; most others have one or two sentences, a few 15 to 50 paragraphs. */
export function createDescription(random: Random): string | null {
  if (random.chance(0.4)) return null;
  if (random.chance(0.93)) return createText(random, random.between(1, 2), " ");
  return createText(random, random.between(15, 50), "\n\n");
}

function createText(random: Random, sentences: number, separator: string): string {
  let text = random.pick(SENTENCES);
  for (let count = 1; count < sentences; count++) text += separator + random.pick(SENTENCES);
  return text;
}

/** One of the three known formats: rounded KB, rounded MB, or rounded KB with two spaces and the exact bytes. */
export function createFileSize(random: Random): string {
  const bytes = random.between(60, random.chance(0.2) ? 900_000 : 4_000) * KIB + random.below(KIB);
  if (random.chance(0.3)) return `${Math.round(bytes / KIB)} KB  (${groupDigits(bytes)} B)`;
  return bytes < KIB * KIB ? `${Math.round(bytes / KIB)} KB` : `${Math.round(bytes / KIB / KIB)} MB`;
}

const groupDigits = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** A package and its version: most libraries have a recent version, a few an old one. */
export function createPackage(random: Random): { readonly packageName: string; readonly packageVersion: string } {
  const [packageName, versions] = random.pick(PACKAGES);
  const lag = Math.floor(versions.length * random.next() * random.next());
  return { packageName, packageVersion: versions[versions.length - 1 - lag] ?? versions[0] };
}
