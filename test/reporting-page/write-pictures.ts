/** `npm run docs:pictures [-- FOLDER]`: makes the pictures of the documents from the report page. Default: docs/images. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { formatReport } from "../../src/report/report-page/report-page.ts";
import { findProgram } from "../support/programs.ts";
import { pictureRows } from "./picture-rows.ts";

const WIDTH = 1000;
/** Each picture shows the page from the top of one element to the bottom of another. */
const PICTURES = [
  { file: "report.png", from: "body", to: "#growth" },
  { file: "report-work.png", from: "#age", to: "#activity" },
];

const executablePath = findProgram("chromium", "chromium");
if (executablePath === null) process.exit(1);
const folder = resolve(process.argv[2] ?? "docs/images");
mkdirSync(folder, { recursive: true });
const page = join(folder, ".page.html");
writeFileSync(page, formatReport(pictureRows, "0.1.0", "cloud.example.com").page);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const tab = await browser.newPage({ viewport: { width: WIDTH, height: 800 }, colorScheme: "light" });
  await tab.goto(pathToFileURL(page).href);
  for (const { file, from, to } of PICTURES) {
    const [first, last] = [await tab.locator(from).boundingBox(), await tab.locator(to).boundingBox()];
    if (first === null || last === null) throw new Error(`the page has no ${from} or no ${to}`);
    const clip = { x: 0, y: first.y, width: WIDTH, height: last.y + last.height - first.y };
    await tab.screenshot({ path: join(folder, file), fullPage: true, clip });
    console.log(join(folder, file));
  }
} finally {
  await browser.close();
  rmSync(page);
}
