import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { NAMES, SECRET_NAMES, SETTINGS } from "../../src/config/settings.ts";
import { loadConfig } from "../../src/config.ts";
import { EXIT } from "../../src/errors.ts";

const KNOWN: readonly string[] = [...NAMES, ...SECRET_NAMES.map((name) => `${name}_FILE`)];
const REQUIRED: readonly string[] = ["SIMCAT_BASE_URL", "SIMCAT_API_KEY"];

const doc = readFileSync("docs/configuration.md", "utf8");
const example = readFileSync(".env.example", "utf8");

/** Whole names of settings: `SIMCAT_API_KEY` does not match in `SIMCAT_API_KEY_FILE`. */
const namesIn = (text: string) => new Set(text.match(/\b(?:SIMCAT_[A-Z_]+|DATABASE_(?:DIRECT_)?URL(?:_FILE)?)\b/g));

/** The first column and the default of each line of a settings table. */
const documented = [...doc.matchAll(/^\| (`[A-Z_]+`(?:, `[A-Z_]+`)?) \| ([^|]+) \|/gm)].map(
  ([, names = "", text = ""]) => ({
    names: [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = ""]) => name),
    fallback: text.replaceAll("`", "").trim(),
  }),
);

describe("docs/configuration.md", () => {
  test("has a line for every name, once, and for no other", () => {
    expect(documented.flatMap(({ names }) => names).sort()).toEqual([...KNOWN].sort());
  });

  test("mentions no name that simcat does not know", () => {
    expect([...namesIn(doc)].filter((name) => !KNOWN.includes(name))).toEqual([]);
  });

  test("gives the defaults that the program has", () => {
    const needs = { service: false, database: true };
    const told = documented.map(({ names: [name = ""], fallback }) => ({ name, fallback }));
    const inWords = told.filter(({ fallback }) => /^(required|unset|embedded|DATABASE_URL|as the .+)$/.test(fallback));
    const given = told.filter((one) => !inWords.includes(one)).map(({ name, fallback }) => [name, fallback]);
    const defaults = loadConfig({}, needs);
    expect(loadConfig(Object.fromEntries(given), needs)).toEqual({ ...defaults, given: expect.anything() });
    const unset = Object.values(SETTINGS).filter(({ fallback }) => fallback === null);
    expect(inWords.map(({ name }) => name).sort()).toEqual(unset.map(({ name }) => name).sort());
  });
});

test("README.md has every exit code", () => {
  const rows = readFileSync("README.md", "utf8").matchAll(/^\| (\d+(?:, \d+)*) \|/gm);
  const codes = [...rows].flatMap(([, list = ""]) => list.split(", ").map(Number));
  expect(codes).toEqual([...new Set(Object.values(EXIT))].sort((a, b) => a - b));
});

describe(".env.example", () => {
  const assignments = [...example.matchAll(/^(# )?([A-Z_]+)=(.*)$/gm)].map(([, comment, name = "", value = ""]) => ({
    name,
    value,
    isActive: comment === undefined,
  }));

  test("has every name once, and no other", () => {
    expect(assignments.map(({ name }) => name).sort()).toEqual([...KNOWN].sort());
    expect([...namesIn(example)].filter((name) => !KNOWN.includes(name))).toEqual([]);
  });

  test("comments out all but what is required", () => {
    expect(assignments.filter(({ isActive }) => isActive).map(({ name }) => name)).toEqual(REQUIRED);
  });

  test("is understood with every line switched on that is no file's name", () => {
    const all = assignments.filter(({ name }) => !name.endsWith("_FILE"));
    const environment = parseEnv(all.map(({ name, value }) => `${name}=${value || "some-key"}`).join("\n"));
    expect(() => loadConfig(environment, { service: true, database: true })).not.toThrow();
  });
});
