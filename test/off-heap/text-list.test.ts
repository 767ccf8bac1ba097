import { expect, test } from "vitest";
import { createTextList } from "../../src/off-heap.ts";

test("items are parsed from their texts again, whatever characters these have and however long they are", () => {
  const list = createTextList((source) => ({ source }));
  const texts = [
    "",
    "one",
    "é 🌲 \0 \u001f",
    "x".repeat(2 ** 21),
    ...Array.from({ length: 1000 }, (_, at) => `text ${at}`),
  ];
  expect(texts.map((text) => list.add(text))).toEqual([...texts.keys()]);
  expect(texts.filter((text, index) => list.at(index).source !== text)).toEqual([]);
});

test("an index outside of the list is an error", () => {
  const list = createTextList((source) => source);
  list.add("one");
  expect(() => list.at(1)).toThrow(new RangeError("the list has no item 1"));
});
