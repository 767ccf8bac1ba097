import { join } from "node:path";
import { expect, test } from "vitest";
import { widthOf } from "../../src/output/table.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { runOnTerminal } from "../support/terminal.ts";
import { callOnTerminal } from "./call-on-terminal.ts";

const NAME = "Urban Growth of the whole province 2018-2045";

test("text on a terminal breaks between words, in a pipe not at all", async () => {
  const libraries = [library("example.user", NAME, { scenarios: [1] }), library("example.user", "Water")];
  const { environment, service, call } = await fixture(libraries);
  await call(["sync"]);
  service.always({ operation: "metadata", library: NAME }, { kind: "status", status: 404 });
  const plain = { ...environment, NO_COLOR: "1" };

  const onTerminal = (...args: string[]) => callOnTerminal(args, plain, { columns: 60 });
  const lines = (await onTerminal("backfill")).screen.split("\n");
  const url = `${service.url}/libs/user/example.user/${encodeURIComponent(NAME)}/metadata`;
  expect(lines).toEqual(expect.arrayContaining([expect.stringContaining(`${url};`)]));
  expect(lines).toEqual(
    expect.arrayContaining([
      "             their stored content stays; they are read",
      "             again, see: simcat status",
    ]),
  );
  expect((await onTerminal("status")).screen.split("\n")).toEqual(
    expect.arrayContaining([
      "next:",
      `  simcat explain 'example.user/${NAME}'`,
      "  has the details and says when the library is read again",
    ]),
  );
  expect((await call(["status"])).stdout).toContain(
    `\nnext: simcat explain 'example.user/${NAME}' has the details and says when the library is read again\n`,
  );

  expect(await onTerminal("explain", "example.user/Nothing of the kind")).toEqual({
    code: 64,
    screen:
      "simcat: example.user/Nothing of the kind is neither stored\n" +
      "  nor recorded as listed; simcat libraries lists those of\n  the copy\n",
  });
  const explained = (await onTerminal("explain", NAME)).screen.split("\n").slice(1);
  expect(explained.filter((line) => widthOf(line) > 60 && !line.includes("/libs/"))).toEqual([]);
});

test("a terminal shows the whole of a failure in verify and in status", async () => {
  const { environment, service, call } = await syncedFixture([library("ann", "Fire", { scenarios: [1] })]);
  const screenOf = async (...args: string[]) =>
    (await callOnTerminal(args, { ...environment, NO_COLOR: "1" }, { columns: 60 })).screen;
  service.always({ operation: "metadata" }, { kind: "status", status: 404 });
  expect(await screenOf("verify")).toMatch(/\n {2}unread +ann\/Fire:\s+not_found:\s+GET\s+[^…]+\n {2}to do/);
  service.always({ operation: "listing" }, { kind: "status", status: 401 });
  await call(["sync"]);
  expect(await screenOf("status")).toMatch(/\nrun 2: GET \/libs answered 401 [^…]+that is\s+meant\n/);
});

test("a terminal explains the words settled, owes, held and partial where they are printed, a pipe does not", async () => {
  const { environment, service, call } = await fixture([library("ann", "Fire"), library("ann", "Water")]);
  const meaningsOf = async (...args: string[]) =>
    (await callOnTerminal(args, { ...environment, NO_COLOR: "1" })).screen
      .split("\n")
      .filter((line) => /^\(\w+: /.test(line));
  const settled = "(settled: an unchanged date proves that the stored content is current)";
  const owes = "(owes: the library must be read again, whatever its date is)";
  expect(await meaningsOf("sync")).toEqual([]);
  expect(await meaningsOf("status")).toEqual([settled]);
  expect(await meaningsOf("libraries")).toEqual([settled]);
  expect(await meaningsOf("explain", "Fire")).toEqual([settled, owes]);
  expect((await call(["explain", "Fire"])).stdout).not.toContain("(settled:");
  service.always({ operation: "metadata", library: "Fire" }, { kind: "status", status: 404 });
  expect(await meaningsOf("backfill")).toEqual([
    "(partial: some libraries failed or are incomplete; the rest is stored)",
  ]);
  service.remove("ann", "Fire");
  service.remove("ann", "Water");
  expect(await meaningsOf("sync")).toEqual(["(held: too much was missing at once, so it was not marked as removed)"]);
});

test("report, export, prune, migrate, query and mock break lines too, but no command to copy", async () => {
  const { environment, query } = await syncedFixture([library("ann", "Fire", { scenarios: [1, 2, 3] })]);
  await query("DROP VIEW simcat_report.removed, simcat_report.stale_results");
  const directory = temporaryDirectory();
  const linesOf = async (...args: string[]) => {
    const options = args[0] === "mock" ? { columns: 40, stop: AbortSignal.abort() } : { columns: 40 };
    const { code, screen } = await callOnTerminal(args, { ...environment, NO_COLOR: "1" }, options);
    const lines = screen.split("\n").filter((line) => !line.includes(directory));
    return { code, wide: lines.filter((line) => widthOf(line) > 40) };
  };
  const fits = { code: 0, wide: [] };
  expect(await linesOf("migrate")).toEqual(fits);
  expect(await linesOf("report", "--out", join(directory, "report.html"))).toEqual(fits);
  expect(await linesOf("export", "libraries", "--out", join(directory, "export"))).toEqual(fits);
  expect(await linesOf("prune", "--older-than", "1h")).toEqual(fits);
  expect(await linesOf("query", "SELECT generate_series(1, 1001)")).toEqual(fits);
  expect(await linesOf("libraries")).toEqual(fits);
  expect(await linesOf("mock", "--port", "0")).toEqual({
    code: 0,
    wide: [expect.stringMatching(/^ {2}export SIMCAT_BASE_URL=http\S+ SIMCAT_API_KEY=mock-key$/)],
  });
});

test("the help breaks lines between words on a narrow terminal (fault 270)", async () => {
  const { screen } = await runOnTerminal(["sync", "--help"], {}, 40);
  expect(screen.split("\n").filter((line) => widthOf(line) > 40)).toEqual([expect.stringMatching(/^ {2}\$ simcat/)]);
});
