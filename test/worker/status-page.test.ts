import { expect, test } from "vitest";
import { foreignText } from "../../src/report/html/elements.ts";
import { html, toMarkup } from "../../src/report/html/html.ts";
import { formatStatusPage } from "../../src/worker/status-page.ts";
import type { WorkerStatus } from "../../src/worker/worker-status.ts";
import { AWKWARD_NAMES } from "../support/organization.ts";
import { failing } from "../support/status-rows.ts";
import { emptyStatus, failingStatus, figuresOf, SETTINGS_OF_PAGE } from "./status-values.ts";

const pageOf = (status: WorkerStatus) => formatStatusPage(status, SETTINGS_OF_PAGE, "9.9.9");

test("escapes text between tags and in attributes", () => {
  expect(toMarkup(`<a href="x" title='y'>&`)).toBe("&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;");
  expect(toMarkup(html`<p title="${'"'}">${"<b>"} ${1} ${null} ${[html`<i>${"&"}</i>`, "<"]}</p>`)).toBe(
    '<p title="&quot;">&lt;b&gt; 1  <i>&amp;</i>&lt;</p>',
  );
  // An object that looks like markup.
  const forged = JSON.parse('{"markup":"<script>"}');
  expect(() => toMarkup(html`${forged}`)).toThrow();
});

test("replaces characters that HTML forbids, and shows characters that would reverse or hide text", () => {
  expect(toMarkup("a\0b\ud800c\u001b\n")).toBe("a\ufffdb\ufffdc\ufffd\n");
  expect(toMarkup(foreignText("\u202egnp.exe"))).toBe("<bdi>\\u202egnp.exe</bdi>");
  expect(toMarkup(foreignText("🌲".repeat(3), 2))).toBe('<bdi title="🌲🌲🌲">🌲🌲…</bdi>');
});

test("the page has a policy that forbids loading and running anything", () => {
  const page = pageOf(emptyStatus);
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy).toMatch(/^default-src &#39;none&#39;; style-src &#39;sha256-[\w+/=]+&#39;; base-uri/);
  expect(page).not.toMatch(/<script|<link|<img|<iframe|\bon\w+="|style="|url\(|https?:/i);
});

test("no hostile name adds a tag or an attribute to the page", () => {
  const page = pageOf(failingStatus([...AWKWARD_NAMES, '"><script>alert(1)</script>', "</bdi></table>", "\u202e"]));
  expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(page).not.toMatch(/<img|<script|alert\(1\)<\/script>/i);
  expect(page.match(/<table\b/g)?.length).toBe(page.match(/<\/table>/g)?.length);
  expect(page).not.toMatch(/\u202e/);
});

test("lists twenty of ten thousand failing libraries, and counts the others", () => {
  const names = Array.from({ length: 20 }, (_, at) => `library ${at}`);
  const page = pageOf(failingStatus(names, 10_000));
  expect(page).toContain("<h2>10,000 libraries fail</h2>");
  expect(page).toContain("… and 9,980 more; see simcat status");
  expect(page.match(/library \d+/g)).toHaveLength(20);
});

test("names the service and the database, and shows each time before its age (fault 311)", () => {
  const page = pageOf(failingStatus(["Fire"]));
  expect(page).toContain("<h1>simcat: organization at api.example.com, database <bdi>simcat</bdi></h1>");
  expect(page).toContain("<title>simcat: not ready: api.example.com, database simcat</title>");
  expect(page.replace(/<[^>]*>/g, "")).toContain("next run20 Nov 2026, 15:15 CETin 11 min");
  expect(page.replace(/<[^>]*>/g, "")).toContain("20 Nov 2026, 13:48 15 min ago");
  // Not "never": a copy that was complete may lose its date to a cache of unknown age.
  expect(pageOf(emptyStatus)).toContain("<dt>complete as of</dt><dd>not known</dd>");
  expect(pageOf({ ...emptyStatus, figures: null })).toContain("<h1>simcat: organization at api.example.com</h1>");
});

test("shows an error to its last word, because its end says what to do", () => {
  const lastError = `mismatched: ${"very long ".repeat(100)}; rename it in the service`;
  const shown = [failing("ann", "Fire", { lastError })];
  const page = pageOf({ ...failingStatus([]), figures: figuresOf({ failing: { total: 1, shown } }) });
  expect(page).toContain("rename it in the service</bdi>");
});

test("says up to date only without any problem", () => {
  const label = (status: Partial<WorkerStatus>) =>
    /<title>simcat: ([^:]*):/.exec(pageOf({ ...emptyStatus, ...status }))?.[1];
  const problem = { code: "failing_libraries", message: "1 library fails: ann/A" };
  expect(label({ ready: true, reasons: [] })).toBe("up to date");
  expect(label({ ready: true, reasons: [problem] })).toBe("ready, with a problem");
  expect(pageOf({ ...emptyStatus, ready: true, reasons: [problem] })).not.toContain("up to date");
  expect(label({ ready: false })).toBe("not ready");
});

test("draws each run with its outcome as a shape, and lists the newest ten in a table", () => {
  const page = pageOf(failingStatus(["Fire"]));
  const [, chart = ""] = /<svg class="chart"(.*?)<\/svg>/s.exec(page) ?? [];
  // Four of thirty were abandoned, and took an unknown time.
  expect(chart.match(/<path class="state-/g)).toHaveLength(26);
  expect(chart).toContain("<title>sync 130, 20 Nov 2026, 14:02: running, 1 min 00 s</title>");
  expect(page.match(/<td data-title="run">/g)).toHaveLength(10);
});

test("shows an empty database, and a database that has not answered yet", () => {
  expect(pageOf(emptyStatus)).toContain("No run yet");
  const reasons = [{ code: "starting", message: "the worker is waiting for its database" }];
  const page = pageOf({ ...emptyStatus, figures: null, basics: null, reasons });
  expect(page).toContain("<b>starting</b>: <bdi>the worker is waiting for its database</bdi>");
});

test("a run that waits for its lease is not shown as active", () => {
  const startedAt = new Date(emptyStatus.now.getTime() - 4_000);
  const waiting = { id: null, startedAt, progressAt: null, toRead: null, done: 0 };
  const text = (current: typeof emptyStatus.current) => pageOf({ ...emptyStatus, current }).replace(/<[^>]*>/g, "");
  expect(text(waiting)).toContain("current runwaitingdue 20 Nov 2026, 14:03 4 s ago");
  expect(text({ ...waiting, id: 7 })).toContain("current runlistingrun 7, started 20 Nov 2026, 14:03 4 s ago");
});
