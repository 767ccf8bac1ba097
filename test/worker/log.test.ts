import { expect, test } from "vitest";
import { createLog } from "../../src/log.ts";
import { createRunLog } from "../../src/output/run-log.ts";
import type { EndStatus, RunSummary } from "../../src/run-summary.ts";
import { RunTotals } from "../../src/sync/run-totals.ts";

const mask = (text: string) => text.replaceAll("hush-hush", "***");

function written(format: "json" | "pretty") {
  const lines: string[] = [];
  const log = createLog(
    { logFormat: format, logLevel: "info" },
    { terminal: { isErr: false }, draw: (text) => void lines.push(text), mask },
  );
  return { log, lines };
}

const summaryOf = (status: EndStatus): RunSummary =>
  new RunTotals().toSummary({ id: 1, request: { kind: "sync" }, mask }, { status, message: null }, 5);

test.each([
  ["ok", "info", "run_finished"],
  ["partial", "warn", "run_finished"],
  ["held", "warn", "run_finished"],
  ["interrupted", "warn", "run_finished"],
  ["source_unavailable", "warn", "source_unavailable"],
  ["database_failed", "warn", "database_failed"],
  ["lost_lease", "warn", "lost_lease"],
  ["unauthorized", "error", "unauthorized"],
  ["source_untrusted", "error", "source_untrusted"],
  ["failed", "error", "failed"],
] as const)("a run that ends as %s logs one line at level %s", (status, level, code) => {
  const { log, lines } = written("json");
  createRunLog(log).observe({ kind: "finished", summary: summaryOf(status) });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ level, code, status, run: 1, duration_ms: 5 }),
  ]);
});

test("logs pauses and long waits as info, failed listings as warnings, other retries as debug (fault 149)", () => {
  const { log, lines } = written("json");
  const { observe } = createRunLog(log);
  observe({ kind: "throttled", operation: "listing", waitMs: 2_000 });
  observe({ kind: "retry", operation: "metadata", reason: "answered 503", delayMs: 9_999 });
  observe({ kind: "retry", operation: "metadata", reason: "answered 503", delayMs: 10_000 });
  observe({ kind: "retry", operation: "listing", reason: "answered 503", delayMs: 10 });
  observe({ kind: "request", operation: "listing", outcome: "5xx", ms: 3 });
  expect(lines.map((line) => JSON.parse(line)).map(({ level, code }) => `${level} ${code}`)).toEqual([
    "info throttled",
    "info request_retried",
    "warn request_retried",
  ]);
});

test("writes plain lines for people", () => {
  const { log, lines } = written("pretty");
  log.warn({ code: "x" }, "words");
  expect(lines).toEqual([expect.stringMatching(/^\d\d:\d\d:\d\d WARN {2}words code="x"\n$/)]);
});

test.each(["json", "pretty"] as const)("in a %s line, messages are masked and values are not (fault 109)", (format) => {
  const { log, lines } = written(format);
  log.warn({ code: "hush-hush", error: "said hush-hush", detail: 7, owner: "hush-hush" }, "library failed");
  expect(lines.join("")).toContain("said ***");
  expect(lines.join("").match(/hush-hush/g)).toHaveLength(2);
});
