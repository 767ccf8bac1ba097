import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { always, status } from "../faults/answers.ts";
import { logLines } from "../faults/run-results.ts";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";
import { findProgram } from "../support/programs.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { runOnTerminal } from "../support/terminal.ts";

/** Valid names that a log, a terminal or a page would interpret. */
const HOSTILE = [
  'x\n{"level":"info","code":"run_finished","status":"ok"}',
  "x\r\n12:00:00 INFO forged",
  "\u001b[2J\u001b[H cleared",
  "\u001b]0;title\u0007",
  "\u001b]8;;http://evil\u0007link",
  "\u009b31m C1",
  "\u0085next line",
  "\u202egnp.exe",
  "\u2066isolated\u2069",
  "\u2028separated\u2029",
  "\u200e\u200f marks",
  "\b\b\b back",
  "<script>alert(1)</script>",
  "</title><img src=x onerror=alert(1)>",
  "'\"><svg/onload=alert(1)>",
  "{{constructor}}",
  ...AWKWARD_NAMES,
];

/** All of them fail, so that each is logged; one has a good copy and a reject. */
async function hostileWorld(): Promise<Fixture> {
  const made = await syncedFixture(
    HOSTILE.map((name) =>
      library(name, name, {
        description: name,
        packageName: name,
        fileSize: name,
        scenarios: [scenario(1, { scenarioName: name, description: name })],
      }),
    ),
  );
  const bad = { kind: "alterItem", index: 0, set: { parentId: "\u001b[31m\nx" } } as const;
  made.service.script([
    always({ operation: "scenarios", library: "lib" }, bad),
    always({ operation: "scenarios" }, status(403, { body: '\u001b[31m\n{"level":"info"}\u009b\u202e' })),
  ]);
  return made;
}

/** Control characters that affect a terminal or end a line, except the line feeds between lines. */
const ACTS = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/u;

test("names form no log line, and no element of the report (faults 107 and 108)", async () => {
  const { simcat, call } = await hostileWorld();

  const ended = await simcat(["backfill"], { SIMCAT_LOG_FORMAT: "json" });

  expect(ended.code).toBe(2);
  const lines = logLines(ended);
  expect(lines.filter((line) => line.code === "run_finished")).toMatchObject([{ status: "partial" }]);
  const failed = lines.filter((line) => line.msg === "library failed").map((line) => line.library);
  expect(failed.sort()).toEqual(HOSTILE.toSorted());
  const codes = lines.filter((line) => line.level === "info").map((line) => line.code);
  expect(codes).toEqual(["run_started", "run_planned"]);
  expect(ended.stdout + ended.stderr).not.toMatch(ACTS);

  // The report holds names as text: no element and no script.
  const directory = temporaryDirectory();
  const page = join(directory, "report.html");

  expect((await call(["report", "--out", page])).code).toBe(0);

  const html = readFileSync(page, "utf8");
  expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
  expect(html).not.toMatch(/<img src=x|<svg\/onload|<script>alert/i);
  // The report isolates names in pictures, so that right-to-left ones do not reorder the numbers beside them.
  const isolatedNames = /\u2068([^\u2066-\u2069]*)\u2069/gu;
  expect(html.replaceAll("\n", "").replaceAll(isolatedNames, "$1")).not.toMatch(ACTS);
});

test.skipIf(findProgram("script", "bsdutils") === null)(
  "names from the service have no effect on a terminal, in every command (fault 107)",
  async () => {
    const { environment, call } = await hostileWorld();
    await call(["backfill"]);
    const settings = { ...environment, SIMCAT_LOG_FORMAT: "pretty", SIMCAT_LOG_LEVEL: "trace" };
    const commands = [
      ["backfill"],
      ["sync", "--dry-run"],
      ["status"],
      ["verify"],
      ["explain", "%1b%5b31mred/%1b%5b31mred"],
      ["explain", "%1b%5b31mnobody/%0aknows"],
      ["sync", "--owner", "\u001b[31mnobody"],
      ["prune", "--older-than", "\u001b[31m"],
    ];

    for (const args of commands) {
      const command = args.join(" ");
      const { screen } = await runOnTerminal(args, settings, 500);
      // simcat's own: start of line, clear line, a colored word.
      const rest = screen
        .replaceAll("\u001b[K", "")
        .replaceAll("\r", "")
        .replace(/\p{Cc}\[(?:2|3[123])m([^\p{Cc}]+)\p{Cc}\[(?:22|39)m/gu, "$1");
      expect(rest, command).not.toBe("");
      const acts = ACTS.exec(rest)?.index ?? 0;
      expect(rest, `${command}: ${JSON.stringify(rest.slice(acts).slice(0, 40))}`).not.toMatch(ACTS);
      expect(rest, command).not.toMatch(/^\{"level":"info"|^\d\d:\d\d:\d\d INFO forged/m);
    }
  },
);
