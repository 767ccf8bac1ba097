import { expect, test } from "vitest";
import { wrapText } from "../../src/output/wrap.ts";

test("text breaks between words, with the indent of the text after its label", () => {
  expect(wrapText("  rejects    2 wrong_type, 1 too_large; all valid items are stored", 40)).toBe(
    ["  rejects    2 wrong_type, 1 too_large;", "             all valid items are stored"].join("\n"),
  );
  expect(wrapText("✓  key   the service accepts it, and more\n✓  listing  ok", 30)).toBe(
    ["✓  key   the service accepts", "         it, and more", "✓  listing  ok"].join("\n"),
  );
  expect(wrapText("next: nothing; all is done", 20)).toBe("next: nothing; all\n  is done");
});

test("a line of exactly the width stays, one column more breaks, and wide characters count twice", () => {
  expect(wrapText("abc def", 7)).toBe("abc def");
  expect(wrapText("abc def", 6)).toBe("abc\n  def");
  expect(wrapText("山 山", 5)).toBe("山 山");
  expect(wrapText("山 山", 4)).toBe("山\n  山");
});

test("URLs, commands and quoted names are not broken", () => {
  expect(wrapText("see https://example.com/a/very/long/path?x=1 there", 20)).toBe(
    "see\n  https://example.com/a/very/long/path?x=1\n  there",
  );
  expect(wrapText("next: simcat explain 'ann/Fire Risk' has the details", 20)).toBe(
    "next:\n  simcat explain 'ann/Fire Risk'\n  has the details",
  );
  expect(wrapText("it's not known (did you mean 'ann/Fire Risk'?)", 20)).toBe(
    "it's not known (did\n  you mean\n  'ann/Fire Risk'?)",
  );
  expect(wrapText("here:\n  A=/x node /dist/main.js db", 20)).toBe("here:\n  A=/x node /dist/main.js db");
  expect(wrapText("  export A=http://127.0.0.1:1 B=c", 20)).toBe("  export A=http://127.0.0.1:1 B=c");
  expect(wrapText("run simcat sync --allow-removals again", 16)).toBe("run\n  simcat sync --allow-removals\n  again");
});

test("an item of a list is indented further where it goes on", () => {
  expect(wrapText("report: x\n  12 of 60 libraries are active", 20)).toBe(
    "report: x\n  12 of 60 libraries\n    are active",
  );
});

test("a label keeps the first word of its text", () => {
  expect(wrapText("  to do      simcat backfill --restart --library ann/Fire", 40)).toBe(
    "  to do      simcat backfill --restart --library ann/Fire",
  );
});

test("colors take no width", () => {
  expect(wrapText("\u001b[32m✓ ok\u001b[39m yes", 8)).toBe("\u001b[32m✓ ok\u001b[39m yes");
  expect(wrapText("\u001b[32m✓ ok\u001b[39m yes", 7)).toBe("\u001b[32m✓ ok\u001b[39m\n  yes");
});
