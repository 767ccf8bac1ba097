import fc from "fast-check";
import { expect, test } from "vitest";
import { UsageError } from "../src/errors.ts";
import { formatKey, formatSelector, keyText, parseKey, parseSelector, spreadOf } from "../src/key.ts";

const part = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\0"));
const anyKey = fc.record({ owner: part, name: part });

test.each([
  [
    { owner: "example.user", name: "Fire Risk (Revelstoke, British Columbia)" },
    "example.user/Fire Risk (Revelstoke, British Columbia)",
  ],
  [{ owner: "a", name: "Q1/Q2 50% done #3?x=1&y=2" }, "a/Q1%2FQ2 50%25 done #3?x=1&y=2"],
  [{ owner: "a", name: "%2e%2e" }, "a/%252e%252e"],
  [{ owner: "a", name: "name\nERROR \u001b[31m\u0085" }, "a/name%0AERROR %1B[31m%C2%85"],
  [{ owner: "a", name: "rtl \u202e" }, "a/rtl %E2%80%AE"],
  [{ owner: "a", name: " lead 🌲 مكتبة ١" }, "a/ lead 🌲 مكتبة ١"],
])("%j is formatted as %j and parsed back (faults 32 and 269)", (key, text) => {
  expect(formatKey(key)).toBe(text);
  expect(parseKey(text)).toEqual(key);
});

test("any key can be formatted and parsed back", () => {
  const readsBack = fc.property(anyKey, (key) => {
    expect(parseKey(formatKey(key))).toEqual(key);
  });
  fc.assert(readsBack, { numRuns: 2000 });
});

test("a key that was typed fully percent-encoded is the same key", () => {
  expect(parseKey("first%2Dlast/%C3%A9t%C3%A9")).toEqual({ owner: "first-last", name: "été" });
});

test.each([
  "",
  "name",
  "/name",
  "owner/",
  "owner/a/b",
  "owner/50% done",
  "owner/%",
  "owner/%C3",
  "owner/%00",
  "owner/%zz",
])("%j is malformed, and the message shows the correct form", (text) => {
  expect(() => parseKey(text)).toThrow(UsageError);
  expect(() => parseKey(text)).toThrow(/names no library; write OWNER\/NAME, .* such as "example\.user\/Q1%2FQ2/);
});

test.each([
  ["Fire Risk", { owner: "", name: "Fire Risk" }],
  ["Q1%2FQ2 50%25", { owner: "", name: "Q1/Q2 50%" }],
  ["ann/Fire", { owner: "ann", name: "Fire" }],
])("the selector %j is a library, with an owner or without one, and is formatted back", (text, key) => {
  expect(parseSelector(text)).toEqual(key);
  expect(formatSelector(key)).toBe(text);
});

test.each(["", "50% done", "%00", "/name", "owner/", "owner/a/b"])("the selector %j is malformed", (text) => {
  expect(() => parseSelector(text)).toThrow(UsageError);
});

test("two keys never have the same text", () => {
  expect(keyText({ owner: "a", name: "b/c" })).not.toBe(keyText({ owner: "a/b", name: "c" }));
  expect(keyText({ owner: "Lib", name: "x" })).not.toBe(keyText({ owner: "lib", name: "x" }));
});

test("keys are spread evenly, even if they differ only in the last digit", () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let index = 0; index < 10_000; index += 1) {
    const tenth = Math.floor(spreadOf({ owner: "example.user", name: `Library ${index}` }) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  expect(Math.min(...tenths)).toBeGreaterThan(900);
  expect(Math.max(...tenths)).toBeLessThan(1100);
});

test("the spread of a key is the same on every machine", () => {
  expect(spreadOf({ owner: "example.user", name: "helloworldCourse" })).toBe(0.5693473913706839);
});
