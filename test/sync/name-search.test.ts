import { expect, test } from "vitest";
import { parseKey } from "../../src/key.ts";
import type { LibraryKey } from "../../src/model.ts";
import { searchLibrary, searchOwner } from "../../src/sync/rules/name-search.ts";
import { AWKWARD_NAMES } from "../support/organization.ts";

const key = (owner: string, name: string): LibraryKey => ({ owner, name });

function librariesNear(wanted: LibraryKey, known: readonly LibraryKey[]): string[] {
  const search = searchLibrary(wanted);
  for (const one of known) search.offer(one);
  return search.words();
}

function ownersNear(wanted: string, known: readonly string[]): string[] {
  const search = searchOwner(wanted);
  for (const owner of known) search.offer(key(owner, "x"));
  return search.words();
}

test.each([
  ["Fier", "Fire"],
  ["fire", "Fire"],
  ["Montre\u0301al", "Montréal"],
  ["Fire ", "Fire"],
  ["Fyre Rsik", "Fire Risk"],
])("suggests for %j names that differ by two letters, case, accents or spaces (fault 76): %j", (typed, meant) => {
  const words = [/^\w+$/.test(meant) ? `ann/${meant}` : `'ann/${meant}'`];
  expect(librariesNear(key("ann", typed), [key("ann", "Water"), key("ann", meant)])).toEqual(words);
});

test.each([
  ["Fire R", ["'ann/Fire Risk'", "'ann/Fire Road'"]],
  ["fire", ["'ann/Fire Risk'", "'ann/Fire Road'"]],
  ["Fire Ris", ["'ann/Fire Risk'", "'ann/Fire Road'"]],
  ["Watr", ["ann/Water", "'ann/Watr of May'"]],
])("suggests for %j the names that begin with it, after those with a typo", (typed, words) => {
  const known = ["Watr of May", "Water", "Fire Road", "Fire Risk"].map((name) => key("ann", name));
  expect(librariesNear(key("ann", typed), known)).toEqual(words);
});

test("suggests owners that begin with the typed text", () => {
  expect(ownersNear("Example", ["another.user", "example.user", "example.admin"])).toEqual([
    "example.admin",
    "example.user",
  ]);
  expect(librariesNear(key("example", "Fire"), [key("example.user", "Fire Risk")])).toEqual([
    "'example.user/Fire Risk'",
  ]);
});

test("suggests libraries of all owners for a name without an owner", () => {
  const known = [key("bob", "Fire"), key("ann", "Fyer"), key("ann", "Water")];
  expect(librariesNear(key("", "Fyre"), known)).toEqual(["bob/Fire", "ann/Fyer"]);
});

test("suggests no distant name", () => {
  expect(librariesNear(key("ann", "Fire"), [key("ann", "Water"), key("bob", "Fires of May")])).toEqual([]);
  expect(librariesNear(key("ann", "ab"), [key("ann", "cd")])).toEqual([]);
  expect(ownersNear("nobody", ["example.user"])).toEqual([]);
});

test("suggests at most three distinct names, the closest first and other owners last", () => {
  const known = ["Fires", "Fire2", "Fire3", "Fires", "Fi"].map((name) => key("ann", name));
  expect(librariesNear(key("ann", "Fire"), [key("bob.the.builder", "Fire"), ...known])).toEqual([
    "ann/Fire2",
    "ann/Fire3",
    "ann/Fires",
  ]);
  expect(librariesNear(key("ann", "Fire"), [key("bob.the.builder", "Fire"), key("anna", "Fier")])).toEqual([
    "anna/Fier",
    "bob.the.builder/Fire",
  ]);
});

test.each(AWKWARD_NAMES.map((name) => [name]))("a suggested library can be pasted back: %j", (name) => {
  const [word = ""] = librariesNear(key("ann", `${name}x`), [key("ann", name)]);
  const pasted = word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word;
  expect(pasted).toMatch(/^[^\p{Cc}\u202e\u2028]*$/u);
  expect(parseKey(pasted)).toEqual(key("ann", name));
});

test("suggestions have no control characters, and omit an owner that cannot be typed", () => {
  expect(librariesNear(key("ann", "redd"), [key("ann", "red\u202e")])).toEqual(["ann/red%E2%80%AE"]);
  expect(ownersNear("redd", ["red\u202e", "red\u001b", "red"])).toEqual(["red"]);
});

test("very long names are compared quickly and not repeated in a message", () => {
  const long = "long ".repeat(500);
  expect(librariesNear(key("ann", `${long}x`), [key("ann", `${long}y`)])).toEqual([]);
  const many = Array.from({ length: 2_000 }, (_, at) => key("ann", `${at}${long}${at}`));
  expect(librariesNear(key("ann", `x${long}x`), many)).toEqual([]);
});
