import { expect, test } from "vitest";
import { createListingStore } from "../../src/off-heap.ts";

/** Entries whose text is `owner|name`. */
function createStore() {
  return createListingStore((source) => {
    const [owner = "", name = ""] = source.split("|");
    return { key: { owner, name }, lastModified: null, source };
  });
}

const entry = (owner: string, name: string) => {
  return { key: { owner, name }, lastModified: null, source: `${owner}|${name}` };
};

test("libraries are found by owner and name, and iterated in the order of the listing", () => {
  const store = createStore();
  const entries = [
    entry("ann", "Lib"),
    entry("bob", "Lib"),
    entry("ann", "lib"),
    entry("annL", "ib"),
    entry("🌲", "é"),
  ];
  for (const added of entries) store.add(added);
  expect([...store]).toEqual(entries);
  expect(entries.map(({ key }) => store.find(key))).toEqual([0, 1, 2, 3, 4]);
  expect(store.find({ owner: "cem", name: "Lib" })).toBeUndefined();
});

test("holds a hundred thousand entries, also replaced ones, and a text longer than a page", () => {
  const store = createStore();
  const nameOf = (at: number) => (at === 70_000 ? "x".repeat(3 * 2 ** 20) : `Lib ${at}`);
  for (let at = 0; at < 100_000; at++) store.add(entry("ann", nameOf(at)));
  expect(store).toHaveLength(100_000);
  const all = Array.from({ length: 100_000 }, (_, at) => at);
  expect(all.filter((at) => store.find({ owner: "ann", name: nameOf(at) }) !== at)).toEqual([]);
  expect(all.filter((at) => store.at(at).source !== `ann|${nameOf(at)}`)).toEqual([]);
  const disputed = { key: { owner: "ann", name: nameOf(90_000) }, lastModified: null, source: null };
  expect(store.at(90_000).source).toBe(`ann|${nameOf(90_000)}`);
  store.replace(90_000, disputed);
  expect([store.at(90_000), store.find(disputed.key)]).toEqual([disputed, 90_000]);
  const rejected = { ...entry("ann", "rejected"), source: null };
  store.add(rejected);
  store.add(entry("ann", "after it"));
  expect([store.at(100_000), store.at(100_001)]).toEqual([rejected, entry("ann", "after it")]);
});
