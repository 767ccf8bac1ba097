import { expect, it } from "vitest";
import { createRedactor } from "../../src/secrets.ts";
import { createQuote } from "../../src/service/http/attempt-failure.ts";

const quote = createQuote(createRedactor([]));

it.each([
  ['x\n{"level":"info"}', 'x\\u000a{"level":"info"}'],
  ["\u001b[31mred\u009b0m", "\\u001b[31mred\\u009b0m"],
  ["a\u202eb\u2066c\u200fd", "a\\u202eb\\u2066c\\u200fd"],
  ["line\u2028paragraph\u2029", "line\\u2028paragraph\\u2029"],
  ["nul\u0000del\u007f", "nul\\u0000del\\u007f"],
  ["half \ud800 pair", "half \\ud800 pair"],
  ["🌲 مكتبة é", "🌲 مكتبة é"],
])("escapes %j so that it cannot forge output (fault 107)", (text, expected) => {
  expect(quote(text)).toBe(expected);
});

it("cuts only text that exceeds its limit", () => {
  const most = "a".repeat(200);
  expect([quote(most), quote(`${most}b`)]).toEqual([most, `${most}…`]);
  expect(quote(`${"a".repeat(199)}🌲`)).toBe(`${"a".repeat(199)}…`);
});
