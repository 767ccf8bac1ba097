import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatReport } from "../../src/report/report-page/report-page.ts";
import { BROWSER, useBrowser } from "../support/browser.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { emptyRows, failingRows, hugeRows, oneRows } from "./report-rows.ts";

const FILL = 'getComputedStyle(document.querySelector("svg.chart .solid.first")).fill';

/** The size of the smallest letters of a picture, in pixels of the screen. */
const SMALLEST_TEXT = `Math.min(...[...document.querySelectorAll("svg.chart text")].map(
  (text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))`;

/** The contrast of each class of text and shape with the background behind it, as in WCAG 2. */
const CONTRASTS = `(() => {
  const luminance = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ratio = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const backgroundOf = (element) => {
    const color = getComputedStyle(element).backgroundColor;
    return color === "rgba(0, 0, 0, 0)" ? backgroundOf(element.parentElement) : color;
  };
  const lowest = { text: 21, shape: 21 };
  for (const element of document.querySelectorAll("body *")) {
    if (element.matches("title, style, option")) continue;
    const style = getComputedStyle(element);
    const isShape = element.matches("svg :is(.solid, .hollow, .curve, .axis, [class^=state])");
    const isText = element.matches("svg text") || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    if (!isShape && (!isText || (element.closest("svg") && !element.matches("text")))) continue;
    const paints = isShape ? [style.fill, style.stroke].filter((paint) => paint !== "none") : [element.matches("text") ? style.fill : style.color];
    const best = Math.max(...paints.map((paint) => ratio(paint, backgroundOf(element.closest("svg") ?? element))));
    const kind = isShape ? "shape" : "text";
    lowest[kind] = Math.min(lowest[kind], best);
  }
  return lowest;
})()`;

test.skipIf(BROWSER === null)("npm run docs:pictures makes the pictures that the documents show (fault 168)", () => {
  const folder = temporaryDirectory();
  execFileSync("npm", ["run", "--silent", "docs:pictures", "--", folder], { stdio: "pipe" });
  const names = readdirSync("docs/images").sort();
  expect(readdirSync(folder).sort()).toEqual(names);
  for (const name of names) {
    const [made, committed] = [folder, "docs/images"].map((from) => readFileSync(join(from, name)));
    // Bytes 16 to 24 of a PNG file are its width and height. Fonts differ between machines, so heights may.
    expect(made?.subarray(1, 4).toString()).toBe("PNG");
    expect(made?.readUInt32BE(16)).toBe(committed?.readUInt32BE(16));
  }
});

describe.skipIf(BROWSER === null)("the report in a browser", () => {
  const openUrl = useBrowser();
  const rows = { empty: emptyRows, failing: failingRows, one: oneRows, huge: hugeRows };

  function open(name: keyof typeof rows, width?: number, colorScheme?: "light" | "dark") {
    const file = join(temporaryDirectory(), "report.html");
    writeFileSync(file, formatReport(rows[name], "9.9.9", "api.example.com").page);
    return openUrl(`file://${file}`, width, colorScheme);
  }

  test.each([
    ["empty", 390, "light"],
    ["failing", 390, "light"],
    ["one", 390, "dark"],
    ["huge", 390, "light"],
    ["huge", 900, "dark"],
    ["huge", 1440, "light"],
    ["one", 1440, "dark"],
  ] as const)("fits, %s, %i pixels in %s, and breaks no rule of its own policy", async (name, width, colorScheme) => {
    const { page, complaints } = await open(name, width, colorScheme);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      colorScheme === "dark" ? "rgb(15, 19, 24)" : "rgb(255, 255, 255)",
    );
    expect(await page.locator("img, script, [style]").count()).toBe(0);
    const charts = { empty: 0, failing: 0, one: 0, huge: 10 }[name];
    expect(await page.locator("svg.chart:visible").count()).toBe(charts);
    if (name === "huge") {
      expect(await page.evaluate(FILL)).toBe(colorScheme === "dark" ? "rgb(111, 177, 245)" : "rgb(29, 95, 168)");
    }
    const contrast = (await page.evaluate(CONTRASTS)) as { text: number; shape: number };
    expect(contrast.text).toBeGreaterThanOrEqual(4.5);
    expect(contrast.shape).toBeGreaterThanOrEqual(3);
    expect(complaints).toEqual([]);
  });

  test("has cards two by two, and pictures with text of at least 11 pixels, at 360 pixels", async () => {
    const { page } = await open("huge", 360);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    const boxes = await page
      .locator(".cards > div")
      .evaluateAll((cards) =>
        cards.map((one) => (one as unknown as { getBoundingClientRect(): { y: number } }).getBoundingClientRect().y),
      );
    const [first = 0, second, third = 0, fourth] = boxes;
    expect(boxes).toHaveLength(4);
    expect([second, fourth]).toEqual([first, third]);
    expect(third).toBeGreaterThan(first);
    expect(await page.evaluate(SMALLEST_TEXT)).toBeGreaterThanOrEqual(11);
    await page.setViewportSize({ width: 800, height: 800 });
    expect(await page.evaluate(SMALLEST_TEXT)).toBeGreaterThanOrEqual(11);
  });

  test("prints light colors in two columns from any screen", async () => {
    const { page } = await open("huge", 680, "dark");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.evaluate(FILL)).toBe("rgb(29, 95, 168)");
    expect(await page.locator("summary:visible").count()).toBe(0);
    const [active, age] = await Promise.all(["activity", "age"].map((id) => page.locator(`#${id}`).boundingBox()));
    expect(active?.y).toBe(age?.y);
  });

  test("is readable by keyboard: each table of numbers opens with the Enter key", async () => {
    const { page } = await open("huge");
    expect(await page.locator("#activity table:visible").count()).toBe(0);
    await page.locator("#activity summary").focus();
    await page.keyboard.press("Enter");
    expect(await page.locator("#activity table:visible").count()).toBe(1);
  });
});
