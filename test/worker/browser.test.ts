import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { formatStatusPage } from "../../src/worker/status-page.ts";
import { BROWSER, useBrowser } from "../support/browser.ts";
import { fixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { emptyStatus, failingStatus, SETTINGS_OF_PAGE } from "./status-values.ts";
import { startWorker } from "./worker-under-test.ts";

describe.skipIf(BROWSER === null)("the status page in a browser", () => {
  const open = useBrowser();

  const pages = {
    full: formatStatusPage(failingStatus(AWKWARD_NAMES.slice(0, 20), 10_000), SETTINGS_OF_PAGE, "9.9.9"),
    empty: formatStatusPage(emptyStatus, SETTINGS_OF_PAGE, "9.9.9"),
  };

  test.each([
    ["full", 390, "light"],
    ["full", 1280, "dark"],
    ["empty", 390, "dark"],
  ] as const)("the %s page fits %i pixels in %s mode, without a browser warning", async (name, width, scheme) => {
    const file = join(temporaryDirectory(), "page.html");
    writeFileSync(file, pages[name]);
    const { page, complaints } = await open(`file://${file}`, width, scheme);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(
      scheme === "dark" ? "rgb(15, 19, 24)" : "rgb(255, 255, 255)",
    );
    expect(await page.locator("img, script").count()).toBe(0);
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
});
