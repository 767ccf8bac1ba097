import fc from "fast-check";
import { expect, test } from "vitest";
import { parseFileSize } from "../../src/parse-values.ts";

test.each([
  ["240 KB", 245_760],
  ["1 MB", 1_048_576],
  ["1.5 GB", 1_610_612_736],
  ["1.1 KB", 1126],
  ["0 KB", 0],
  ["240 kb", 245_760],
  ["240KB", 245_760],
  ["240\u00a0KiB", 245_760],
  ["2 TiB", 2_199_023_255_552],
  ["221,184 B", 221_184],
  ["221184 bytes", 221_184],
  ["1 byte", 1],
  ["216 KB  (221,184 B)", 221_184],
  ["216 KB (221184 bytes)", 221_184],
  ["1,024 KB", 1_048_576],
  ["1.4 MB (1,520,435 B)", 1_520_435],
  ["1.5 MB (1,572,864 B)", 1_572_864],
  ["1,024 KB (1,048,576 B)", 1_048_576],
  ["0 KB (0 B)", 0],
  ["0 KB (1,023 B)", 1023],
  ["1 KB (512 B)", 512],
  ["1 MB (524,288 B)", 524_288],
  ["1 MB (2,097,151 B)", 2_097_151],
  ["2 MB (1,048,577 B)", 1_048_577],
  // The exact size rounds, up or down, to the shown one.
  ["216 KB (220,161 B)", 220_161],
  ["216 KB (222,207 B)", 222_207],
  ["9007199254740991 B", 9_007_199_254_740_991],
])("%j is certain (fault 60)", (text, bytes) => {
  expect(parseFileSize(text)).toBe(bytes);
});

test.each([
  null,
  // No number with a known unit.
  ...["", "N/A", "string", "12", "KB", "NaN KB", "Infinity KB", "240 KB free", "240 XB", "216 KB (N/A)"],
  // Numbers of another form.
  ...["-5 KB", "+5 KB", "1.2.3 MB", "1,23 KB", "1,5 GB", "1234,567 B", ".5 KB", "5. KB", "1e3 KB", "0x10 KB", "1.5 B"],
  ...["1,5 MB (1,572,864 B)", "1,5 MB (1.572.864 B)", "1.5 MB (1.572.864 B)", "1.024 KB (1.048.576 B)"],
  // The exact size does not round to the shown one.
  ...["216 KB (220,160 B)", "216 KB (222,208 B)", "1 MB (0 B)", "1 MB (5 B)", "1.0 MB (5 B)", "1 MB (524,287 B)"],
  ...["1 KB (511 B)", "0 KB (1,024 B)", "2 MB (1,048,576 B)"],
  // More than 2^53-1 bytes.
  ...["9007199254740992 B", "8 PB", "99999999999999999999 KB"],
])("%j is uncertain: NULL, never 0 (fault 60)", (text) => {
  expect(parseFileSize(text)).toBeNull();
});

test("any text yields a whole number of bytes or null", () => {
  const pieces = fc.constantFrom("1", "23", ",", ".", " ", "K", "B", "(", ")", "-", "1,024", "MB");
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const bytes = parseFileSize(parts.join(""));
      expect(bytes === null || (Number.isSafeInteger(bytes) && bytes >= 0)).toBe(true);
    }),
    { numRuns: 5000 },
  );
});
