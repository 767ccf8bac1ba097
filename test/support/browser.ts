import { type Browser, chromium, type Page, type Response } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { findProgram } from "./programs.ts";

/** The path of the browser; null where it is missing. */
export const BROWSER = findProgram("chromium", "chromium");

/** Chromium's sandbox requires a user other than root. The others keep it from asking its maker's servers. */
const OPTIONS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

interface OpenedPage {
  readonly page: Page;
  readonly response: Response | null;
  /** Warnings of the browser, errors, dialogs, and requests for anything but the page. */
  readonly complaints: string[];
}

type Open = (url: string, width?: number, colorScheme?: "light" | "dark") => Promise<OpenedPage>;

/** A browser for the tests of a file. The returned function opens a page, which is closed at the end of the test. */
export function useBrowser(): Open {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: BROWSER ?? "", args: OPTIONS });
  });
  afterAll(() => browser?.close());
  return async (url, width = 1280, colorScheme = "light") => {
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
    const response = await page.goto(url);
    return { page, response, complaints };
  };
}
