/** The alert rules: about metrics that there are, and firing when they should. */
import * as childProcess from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { parse } from "yaml";
import manifest from "../../package.json" with { type: "json" };
import { createMetrics } from "../../src/worker/metrics.ts";
import { findProgram } from "../support/programs.ts";
import { emptyStatus, figuresOf } from "../worker/status-values.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(root, "deploy/prometheus/");
const read = (name: string): string => readFileSync(folder + name, "utf8");

interface Rule {
  /** Absent for a recording rule. */
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const FILES = ["alerts-worker", "alerts-cronjob"];
const TESTS = readdirSync(folder).filter((name) => name.endsWith(".test.yaml"));
const groupsOf = (file: string): { rules: Rule[] }[] => parse(read(`${file}.yaml`)).groups;
const rules = FILES.flatMap(groupsOf).flatMap((group) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);

const execFile = promisify(childProcess.execFile);
const promtool = findProgram("promtool", "prometheus");

test.skipIf(promtool === null)("each rule fires when it should and not before, says promtool", async () => {
  const run = async (...args: string[]) => (await execFile(promtool ?? "", args, { cwd: folder })).stdout;
  const outputs = await Promise.all([
    ...FILES.map((file) => run("check", "rules", `${file}.yaml`)),
    ...TESTS.map((file) => run("test", "rules", file)),
    run("check", "config", "scrape.yaml"),
  ]);
  expect(outputs.filter((output) => !output.includes("SUCCESS"))).toEqual([]);
});

test("each alert has a case in which it fires and one in which it does not", () => {
  interface Case {
    readonly alertname: string;
    readonly exp_alerts: readonly unknown[];
  }
  const tests = TESTS.flatMap((file): { alert_rule_test: Case[] }[] => parse(read(file)).tests);
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
  const names = (chosen: readonly Case[]) => [...new Set(chosen.map(({ alertname }) => alertname))].sort();
  const all = alerts.map(({ alert }) => alert).sort();
  expect(names(cases.filter(({ exp_alerts }) => exp_alerts.length > 0))).toEqual(all);
  expect(names(cases.filter(({ exp_alerts }) => exp_alerts.length === 0))).toEqual(all);
});

test("the rules ask only for metrics that the worker has", async () => {
  const figures = figuresOf({ completeAsOf: new Date() });
  const { body: scrape } = await createMetrics("1.2.3").scrape({ ...emptyStatus, figures });
  const asked = rules.flatMap(({ expr }) => expr.match(/simcat_\w+(?:\{(?:status|reason)="\w+"\})?/g) ?? []);
  expect(asked.length).toBeGreaterThan(9);
  expect(asked.filter((metric) => !scrape.includes(`\n${metric}`))).toEqual([]);
});

test("each alert has a severity, says what to do, and links to its own section of docs/runbooks.md", () => {
  expect(alerts.filter(({ labels }) => !["critical", "warning"].includes(labels?.severity ?? ""))).toEqual([]);
  expect(alerts.filter(({ annotations }) => !annotations?.summary || !annotations.description)).toEqual([]);
  const [homepage] = manifest.homepage.split("#");
  const sections = readFileSync(join(root, "docs/runbooks.md"), "utf8").matchAll(/^## (\w+)$/gm);
  expect(alerts.map(({ annotations }) => annotations?.runbook_url)).toEqual(
    [...sections].map(([, name = ""]) => `${homepage}/blob/main/docs/runbooks.md#${name.toLowerCase()}`),
  );
});
