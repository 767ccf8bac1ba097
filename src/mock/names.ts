import type { Random } from "./random.ts";
import { COURSES, FIRST, LAST, PLACES, RENAMED, SCENARIOS, THEMES } from "./vocabulary.ts";

/** `example.user` first, then people, one spelling each. */
export function createOwnerNames(random: Random, count: number): string[] {
  const names = new Set(["example.user"]);
  while (names.size < count) {
    const person = `${random.pick(FIRST)}${random.chance(0.6) ? "-" : "."}${random.pick(LAST)}`;
    names.add(names.has(person) ? `${person}${names.size}` : person);
  }
  return [...names].slice(0, count);
}

export function createLibraryName(random: Random): string {
  const theme = random.pick(THEMES);
  const kind = random.below(20);
  if (kind < 7) return `${theme} (${random.pick(PLACES)})${sample(random)}`;
  if (kind < 12) return `${theme} - ${random.pick(PLACES)}${sample(random)}`;
  if (kind < 15) return `${theme} - ${random.between(5, 100)} timesteps - ${random.between(2, 40)} iterations`;
  if (kind < 18) return `${theme} ${random.between(1990, 2025)}-${random.between(2030, 2100)}`;
  return `${random.pick(COURSES)}Course${random.chance(0.5) ? "" : random.between(2, 30)}`;
}

const sample = (random: Random): string => (random.chance(0.2) ? " - Sample" : "");

export function createScenarioName(random: Random): string {
  const kind = random.below(10);
  if (kind < 6) return random.pick(SCENARIOS);
  if (kind < 8) return `[${random.between(1, 9)}] ${random.pick(SCENARIOS)}`;
  return `${random.pick(THEMES)} - ${random.between(5, 60)} timesteps - ${random.between(2, 20)} iterations`;
}

/** Names that people give to results that they want to find again. */
export const createNewName = (random: Random): string => random.pick(RENAMED);
