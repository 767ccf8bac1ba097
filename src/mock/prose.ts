import type { Random } from "./random.ts";

const SENTENCES = [
  "State-and-transition model of forest succession under changing fire regimes.",
  "Inputs were resampled to 90 m; see the data sheet for sources.",
  "Run with 40 Monte Carlo iterations, so expect about two hours.",
  "Préparé pour l'atelier de Montréal; les unités sont des hectares.",
  "Do not edit: figures 2 and 4 of the manuscript depend on this version.",
  'Harvest targets follow the "2030 strategy" (table B-7).',
  "Snow water equivalent was calibrated against 12 stations, 1981–2010.",
  "The seed is fixed, so results can be reproduced.",
  "Transition multipliers come from the expert workshop of the spring.",
  "Habitat is suitable where canopy > 60 % & slope < 30°.",
];

/** Often none, mostly a sentence or two, now and then pages. */
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

const KIB = 1024;

/** The three known formats: rounded KB, rounded MB, and KB followed by two spaces and the exact bytes. */
export function createFileSize(random: Random): string {
  const bytes = random.between(60, random.chance(0.2) ? 900_000 : 4_000) * KIB + random.below(KIB);
  if (random.chance(0.3)) return `${Math.round(bytes / KIB)} KB  (${groupDigits(bytes)} B)`;
  return bytes < KIB * KIB ? `${Math.round(bytes / KIB)} KB` : `${Math.round(bytes / KIB / KIB)} MB`;
}

const groupDigits = (value: number): string => String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** Each with its versions, oldest first. */
const PACKAGES = [
  ["landscape", ["3.3.9", "3.3.12", "4.0.1", "4.3.6"]],
  ["firespread", ["1.0.4", "1.2.0", "2.0.0"]],
  ["hydrology", ["0.9.14", "1.1.2"]],
  ["connectivity", ["2.1.7", "2.1.10", "2.2.0"]],
  ["demography", ["1.0.0"]],
] as const;

/** Mostly new versions; a tail of libraries lags. */
export function createPackage(random: Random): { readonly packageName: string; readonly packageVersion: string } {
  const [packageName, versions] = random.pick(PACKAGES);
  const lag = Math.floor(versions.length * random.next() * random.next());
  return { packageName, packageVersion: versions[versions.length - 1 - lag] ?? versions[0] };
}
