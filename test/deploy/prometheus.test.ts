/** The alert rules: about metrics that there are, and firing when they should. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../src/worker/metrics.ts";
import { findProgram } from "../support/programs.ts";
import { emptyStatus, figuresOf } from "../worker/status-values.ts";

const folder = fileURLToPath(new URL("../../deploy/prometheus/", import.meta.url));
const read = (name: string): string => readFileSync(folder + name, "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const groups: { name: string; rules: Rule[] }[] = parse(read("alerts.yaml")).groups;
const rules = groups.flatMap((group) => group.rules);

const promtool = findProgram("promtool", "prometheus");

test.skipIf(promtool === null)("each rule fires when it should and not before, says promtool", () => {
  const run = (...args: string[]) =>
    execFileSync(promtool ?? "", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  expect(run("check", "rules", "alerts.yaml")).toContain(`SUCCESS: ${rules.length} rules found`);
  expect(run("test", "rules", "alerts.test.yaml")).toContain("SUCCESS");
  expect(run("check", "config", "scrape.yaml")).toContain("SUCCESS");
});

test("each rule has a case in which it fires", () => {
  const tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] = parse(
    read("alerts.test.yaml"),
  ).tests;
  const firing = tests
    .flatMap(({ alert_rule_test }) => alert_rule_test)
    .filter(({ exp_alerts }) => exp_alerts.length > 0);
  expect([...new Set(firing.map(({ alertname }) => alertname))].sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

test("the rules ask only for metrics that the worker has", async () => {
  const figures = figuresOf({ completeAsOf: new Date() });
  const scrape = await createMetrics("1.2.3").scrape({ ...emptyStatus, figures });
  const asked = rules.flatMap(({ expr }) => expr.match(/simcat_\w+(?:\{(?:status|reason)="\w+"\})?/g) ?? []);
  expect(asked.length).toBeGreaterThan(9);
  expect(asked.filter((metric) => !scrape.includes(`\n${metric}`))).toEqual([]);
});

test("each alert has a severity, and says what it is about and what to do", () => {
  expect(rules.filter(({ labels }) => !["critical", "warning"].includes(labels.severity ?? ""))).toEqual([]);
  expect(rules.filter(({ annotations }) => !annotations.summary || !annotations.description)).toEqual([]);
});
