import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { formatReport, type ReportRows } from "../../src/report/report-page/report-page.ts";
import { formatStatusPage } from "../../src/worker/status-page.ts";
import type { WorkerStatus } from "../../src/worker/worker-status.ts";
import { fixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library } from "../support/organization.ts";
import { findProgram } from "../support/programs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { emptyStatus, failingStatus, SETTINGS_OF_PAGE } from "../worker/status-values.ts";
import { startWorker } from "../worker/worker-under-test.ts";
import { emptyRows, failingRows, hugeRows, oneRows } from "./report-rows.ts";

/** The path of the browser; null where it is missing. */
const BROWSER = findProgram("chromium", "chromium");

/** Chromium's sandbox requires a user other than root. The others keep it from asking its maker's servers. */
const OPTIONS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

const WIDTH =
  "document.querySelectorAll('details').forEach((one) => (one.open = true)), document.documentElement.scrollWidth";
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

describe.skipIf(BROWSER === null)("a page in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER ?? "", args: OPTIONS });
  });
  afterAll(() => browser?.close());

  /** `complaints`: warnings of the browser, errors, dialogs, and requests for anything but the page. */
  async function open(url: string, width = 1280, colorScheme: "light" | "dark" = "light") {
    const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (request.url() !== url) complaints.push(`asked for ${request.url()}`);
    });
    page.on("dialog", (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    return { page, response: await page.goto(url), complaints };
  }

  const reportOf = (rows: ReportRows) => formatReport(rows, "9.9.9", "api.example.com").page;
  const statusOf = (status: WorkerStatus) => formatStatusPage(status, SETTINGS_OF_PAGE, "9.9.9");
  const pages = {
    "empty report": reportOf(emptyRows),
    "report of failures": reportOf(failingRows),
    "report of one library": reportOf(oneRows),
    "huge report": reportOf(hugeRows),
    "full status page": statusOf(failingStatus(AWKWARD_NAMES.slice(0, 20), 10_000)),
    "empty status page": statusOf(emptyStatus),
  };

  function openPage(name: keyof typeof pages, width?: number, colorScheme?: "light" | "dark") {
    const file = join(temporaryDirectory(), "page.html");
    writeFileSync(file, pages[name]);
    return open(`file://${file}`, width, colorScheme);
  }

  test.each([
    ["empty report", 390, "light", 0],
    ["report of failures", 390, "light", 0],
    ["report of one library", 390, "dark", 0],
    ["huge report", 390, "light", 10],
    ["huge report", 900, "dark", 10],
    ["huge report", 1440, "light", 10],
    ["report of one library", 1440, "dark", 0],
    ["full status page", 390, "light", 1],
    ["full status page", 1280, "dark", 1],
    ["empty status page", 390, "dark", 0],
  ] as const)("the %s fits %i pixels in %s under its policy (fault 234)", async (name, width, colorScheme, charts) => {
    const { page, complaints } = await openPage(name, width, colorScheme);
    expect(await page.evaluate(WIDTH)).toBe(width);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      colorScheme === "dark" ? "rgb(15, 19, 24)" : "rgb(255, 255, 255)",
    );
    expect(await page.locator("img, script, [style]").count()).toBe(0);
    expect(await page.locator("svg.chart:visible").count()).toBe(charts);
    if (name === "huge report") {
      expect(await page.evaluate(FILL)).toBe(colorScheme === "dark" ? "rgb(111, 177, 245)" : "rgb(29, 95, 168)");
    }
    const contrast = (await page.evaluate(CONTRASTS)) as { text: number; shape: number };
    expect(contrast.text).toBeGreaterThanOrEqual(4.5);
    expect(contrast.shape).toBeGreaterThanOrEqual(3);
    expect(complaints).toEqual([]);
  });

  test("a live status page is styled under its own CSP, and shows a hostile name as text (fault 108)", async () => {
    const hostile = "<img src=x onerror=alert(1)>";
    const { environment, call } = await fixture([library("ann", hostile, { scenarios: [1] })], {
      faults: [{ match: { operation: "metadata" }, times: "always", action: { kind: "status", status: 404 } }],
    });
    // A picture needs five runs.
    for (let run = 1; run <= 5; run++) await call(["sync"]);
    const worker = startWorker(environment);
    await worker.untilLogged("next_run");
    const { url } = await worker.untilLogged("worker_started");
    const { page, response, complaints } = await open(`${url}/`, 390, "dark");
    expect(response?.headers()["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(await page.getByText(hostile, { exact: false }).first().isVisible()).toBe(true);
    expect(await page.locator("img, script").count()).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(15, 19, 24)");
    expect(await page.locator("svg.chart path[class^=state]").count()).toBeGreaterThan(1);
    expect(complaints).toEqual([]);
  });

  test("a report has cards two by two, and pictures with text of at least 11 pixels, at 360 pixels", async () => {
    const { page } = await openPage("huge report", 360);
    expect(await page.evaluate(WIDTH)).toBe(360);
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

  test("a report prints light colors in two columns, and legends with their pictures (fault 393)", async () => {
    const { page } = await openPage("huge report", 680, "dark");
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.evaluate(FILL)).toBe("rgb(29, 95, 168)");
    expect(await page.locator("summary:visible").count()).toBe(0);
    expect(await page.evaluate('getComputedStyle(document.querySelector(".legend")).breakAfter')).toBe("avoid");
    const [active, age] = await Promise.all(["activity", "age"].map((id) => page.locator(`#${id}`).boundingBox()));
    expect(active?.y).toBe(age?.y);
  });

  test("a report is readable by keyboard: each table of numbers opens with the Enter key", async () => {
    const { page } = await openPage("huge report");
    expect(await page.locator("#activity table:visible").count()).toBe(0);
    await page.locator("#activity summary").focus();
    await page.keyboard.press("Enter");
    expect(await page.locator("#activity table:visible").count()).toBe(1);
  });
});
