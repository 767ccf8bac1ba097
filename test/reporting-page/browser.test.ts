import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createChartRenderer } from "../../src/report/charts/chart-renderer.ts";
import { formatReport } from "../../src/report/report-page/report-page.ts";
import { findProgram } from "../support/programs.ts";
import { emptyRows, hugeRows, oneRows } from "./report-rows.ts";

const browserPath = findProgram("chromium", "chromium") ?? "";

const ALONE = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
const OFFLINE = ["--disable-component-update", "--disable-sync"];

const fillOf = (kind: string) => `getComputedStyle(document.querySelector("svg.${kind} path.fill-first")).fill`;

describe.skipIf(browserPath === "")("the report in a browser", () => {
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), "simcat-report-"));

  beforeAll(async () => {
    const draw = await createChartRenderer();
    for (const [name, rows] of Object.entries({ empty: emptyRows, one: oneRows, huge: hugeRows })) {
      writeFileSync(join(folder, `${name}.html`), formatReport(rows, "9.9.9", draw).page);
    }
    // The sandbox of its own wants a user that is not root.
    browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", ...ALONE, ...OFFLINE] });
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["empty", 390, "light"],
    ["one", 390, "dark"],
    ["huge", 390, "light"],
    ["huge", 900, "dark"],
    ["huge", 1440, "light"],
    ["one", 1440, "dark"],
  ] as const)("fits, %s, %i pixels in %s, and breaks no rule of its own policy", async (name, width, colorScheme) => {
    const context = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!request.url().endsWith(`/${name}.html`)) complaints.push(`asked for ${request.url()}`);
    });
    await page.goto(pathToFileURL(join(folder, `${name}.html`)).href);

    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      colorScheme === "dark" ? "rgb(15, 19, 24)" : "rgb(255, 255, 255)",
    );
    expect(await page.locator("img, script, [style]").count()).toBe(0);
    const [shown, hidden] = width < 672 ? ["narrow", "wide"] : ["wide", "narrow"];
    const charts = { empty: 0, one: 5, huge: 6 }[name];
    expect(await page.locator(`svg.${shown}:visible`).count()).toBe(charts);
    expect(await page.locator(`svg.${hidden}:visible`).count()).toBe(0);
    if (charts > 0) {
      expect(await page.evaluate(fillOf(shown))).toBe(
        colorScheme === "dark" ? "rgb(111, 177, 245)" : "rgb(29, 95, 168)",
      );
    }
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("prints light colours and wide charts from any screen", async () => {
    const context = await browser.newContext({ colorScheme: "dark" });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, "huge.html")).href);
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.locator("svg.wide:visible").count()).toBe(6);
    expect(await page.locator("svg.narrow:visible").count()).toBe(0);
    expect(await page.evaluate(fillOf("wide"))).toBe("rgb(29, 95, 168)");
    await context.close();
  });

  test("shows a hostile name as text", async () => {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(folder, "huge.html")).href);
    expect(await page.getByText("<img src=x onerror=alert(1)>").first().isVisible()).toBe(true);
    await page.close();
  });
});
