import { expect, test } from "vitest";
import { type Fixture, fixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";
import { everything, lastRun, logLines } from "./run-results.ts";

/** Moves everything stored back by this many minutes. */
async function passMinutes(query: Fixture["query"], minutes: number): Promise<void> {
  await query(
    `UPDATE simcat.library_sync SET bookmark_seen_at = bookmark_seen_at - $1 * interval '1 minute',
       content_read_at = content_read_at - $1 * interval '1 minute'`,
    [minutes],
  );
}

/** Returns the names of the libraries whose content one sync read. */
async function readBy({ call, asked }: Fixture, args: readonly string[] = ["sync"]): Promise<string[]> {
  asked();
  const { code, stdout } = await call(args);
  if (code !== 0) throw new Error(`ended with ${code}: ${stdout}`);
  const read = asked().filter((line) => line.endsWith("/metadata"));
  return read.map((line) => decodeURIComponent(line.split("/").at(-2) ?? "")).sort();
}

/** The current time in the service's format, not on the hour, where a date could have hour precision. */
const present = (): string => {
  const now = new Date();
  const date = new Date(now.getTime() - (now.getUTCMinutes() === 0 ? 60_000 : 0));
  const clock = date.toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit", timeZone: "UTC" });
  return `${date.toISOString().slice(0, 10)} at ${clock.replaceAll("\u202f", " ")}`;
};

test("a date with minute precision is read until an hour, a minute and two have passed (fault 57)", async () => {
  const made = await fixture([library("alice", "fresh", { lastModified: present(), scenarios: [1] })]);
  expect(await readBy(made)).toEqual(["fresh"]);

  await passMinutes(made.query, 62);
  expect(await readBy(made)).toEqual(["fresh"]);
  expect(await readBy(made)).toEqual([]);
  expect(await lastRun(made.query)).toMatchObject({ status: "ok", libraries_skipped: 1 });

  // An edit in the minute of the date has the same date.
  made.service.change("alice", "fresh", { scenarios: [scenario(1, { scenarioName: "edited in the same minute" })] });
  await passMinutes(made.query, 2);
  expect(await readBy(made)).toEqual(["fresh"]);
  expect(await made.query("SELECT scenario_name AS name FROM simcat.scenarios")).toEqual([
    { name: "edited in the same minute" },
  ]);
  expect(await made.query("SELECT sum(silent_changes)::int AS silent FROM simcat.sync_runs")).toEqual([{ silent: 0 }]);

  const before = await everything(made.query);
  expect(await readBy(made)).toEqual([]);
  expect(await everything(made.query)).toEqual(before);
});

test("a listing dates from its last byte, content from its first request, however slow (fault 57)", async () => {
  const asked = new Map<string, Date>();
  const made = await fixture([library("alice", "fresh", { lastModified: present(), scenarios: [1] })], {
    async onRequest({ path }) {
      const [row] = await made.query<{ at: Date }>("SELECT clock_timestamp() AS at, pg_sleep(0.2)");
      if (row !== undefined) asked.set(path.split("/").at(-1) ?? "", row.at);
    },
  });

  await readBy(made);

  const [read] = await made.query<{ seen: Date; read: Date }>(
    "SELECT bookmark_seen_at AS seen, content_read_at AS read FROM simcat.library_sync",
  );
  expect(read?.seen.getTime()).toBeGreaterThanOrEqual((asked.get("libs")?.getTime() ?? Number.NaN) + 200);
  expect(read?.read.getTime()).toBeLessThanOrEqual(asked.get("metadata")?.getTime() ?? Number.NaN);
  expect(read?.read.getTime()).toBeLessThanOrEqual(asked.get("scenarios")?.getTime() ?? Number.NaN);
});

test("a date in an unknown format is stored as text with a NULL moment and a warning (fault 56)", async () => {
  const { call, query } = await fixture([
    library("alice", "Fire", {
      lastModified: "le 11 septembre 2023",
      scenarios: [scenario(1, { lastModified: "vor kurzem" }), 2],
    }),
  ]);

  const ended = await call(["sync"]);

  expect(ended.code).toBe(0);
  expect(
    await query(
      `SELECT l.last_modified AS library, l.last_modified_at AS library_at, s.last_modified AS scenario, s.last_modified_at AS scenario_at
       FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name) ORDER BY scenario_id`,
    ),
  ).toEqual([
    { library: "le 11 septembre 2023", library_at: null, scenario: "vor kurzem", scenario_at: null },
    {
      library: "le 11 septembre 2023",
      library_at: null,
      scenario: "2023-09-11 at 2:56 PM",
      scenario_at: new Date("2023-09-11T14:56:00Z"),
    },
  ]);
  expect(logLines(ended).filter(({ code }) => code === "dates_unparsed")).toMatchObject([
    {
      level: "warn",
      detail: "2 dates have a format that simcat does not know; their text is stored, their …_at columns are NULL",
    },
  ]);
});

test("an old date does not settle at once without a Date header that proves it old (fault 57)", async () => {
  const date = (value: string | null): FaultAction => ({ kind: "headers", set: { date: value } });
  const variants = [
    ["no Date on metadata", "metadata", date(null)],
    ["no Date on scenarios", "scenarios", date(null)],
    ["a Date before the edit", "scenarios", date("Mon, 11 Sep 2023 14:00:00 GMT")],
    ["a Date within 14 hours of the edit", "metadata", date("Tue, 12 Sep 2023 04:58:00 GMT")],
  ] as const;
  const made = await fixture([
    ...variants.map(([name]) => library("alice", name)),
    library("alice", "a Date beyond all zones"),
    library("alice", "good"),
  ]);
  made.service.script([
    ...variants.map(([name, operation, action]) => ({
      match: { library: name, operation },
      times: "always" as const,
      action,
    })),
    { match: { library: "a Date beyond all zones" }, times: "always", action: date("Tue, 12 Sep 2023 05:00:00 GMT") },
  ]);
  await readBy(made);

  await passMinutes(made.query, 1);

  expect(await readBy(made)).toEqual(variants.map(([name]) => name).toSorted());
});

test("cached answers and other metadata dates do not settle; three such reads lead to a warning (fault 57)", async () => {
  const age = (value: string): FaultAction => ({ kind: "headers", set: { age: value } });
  const variants = [
    ["Age 30", "scenarios", age("30")],
    ["Age 1 on metadata", "metadata", age("1")],
    [
      "metadata of another minute",
      "metadata",
      { kind: "alterItem", index: 0, set: { lastModified: "2023-09-11 at 2:57 PM" } },
    ],
  ] as const;
  const made = await fixture([
    ...variants.map(([name]) => library("alice", name)),
    library("alice", "Age 0"),
    library("alice", "metadata of the same moment in ISO"),
    library("alice", "metadata without a date", { metadataFields: { lastModified: null } }),
  ]);
  made.service.script([
    ...variants.map(([name, operation, action]) => ({
      match: { library: name, operation },
      times: "always" as const,
      action,
    })),
    { match: { library: "Age 0" }, times: "always", action: age("0") },
    {
      match: { library: "metadata of the same moment in ISO", operation: "metadata" },
      times: "always",
      action: { kind: "alterItem", index: 0, set: { lastModified: "2023-09-11T14:56:12.997Z" } },
    },
  ]);
  const doubted = variants.map(([name]) => name).toSorted();
  expect(await readBy(made)).toHaveLength(6);

  expect(await readBy(made)).toEqual(doubted);
  expect(await readBy(made)).toEqual(doubted);
  expect(await made.query("SELECT DISTINCT suspect_reads AS reads FROM simcat.library_sync ORDER BY 1")).toEqual([
    { reads: 0 },
    { reads: 3 },
  ]);

  await passMinutes(made.query, 26 * 60);
  made.asked();
  const fourth = await made.call(["sync"]);
  expect(made.asked()).toHaveLength(1 + 2 * doubted.length);
  expect(logLines(fourth).filter(({ code }) => code === "content_suspect")).toMatchObject([{ level: "warn" }]);
  expect(await readBy(made)).toEqual([]);

  made.service.script([]);
  await passMinutes(made.query, 3 * 24 * 60);
  expect(await readBy(made)).toEqual(doubted);
  expect(await readBy(made)).toEqual([]);
  expect(await made.query("SELECT DISTINCT suspect_reads AS reads FROM simcat.library_sync")).toEqual([{ reads: 0 }]);
  expect(made.service.requests.every(({ headers }) => headers["cache-control"] === "no-cache")).toBe(true);
});

test("content is read in full within SIMCAT_FULL_EVERY, and undated changes are counted", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `lib ${at}`);
  const made = await fixture(names.map((name) => library("alice", name, { scenarios: [1] })));
  await readBy(made);
  made.service.change("alice", "lib 0", { scenarios: [scenario(1, { scenarioName: "undated" })] });

  await passMinutes(made.query, 3.5 * 24 * 60 - 5);
  expect(await readBy(made)).toEqual([]);
  await passMinutes(made.query, 3.5 * 24 * 60 + 10);
  made.asked();
  const { code, stdout } = await made.call(["sync"]);

  expect(code).toBe(0);
  expect(made.asked()).toHaveLength(25);
  expect(stdout).toContain("12 due for a full read");
  expect(stdout).toContain("1 library changed under an unchanged date");
  expect(await lastRun(made.query)).toEqual({
    status: "ok",
    libraries_listed: 12,
    libraries_read: 12,
    libraries_changed: 1,
    scenarios_updated: 1,
    scenarios_unchanged: 11,
    silent_changes: 1,
  });
  expect(await readBy(made)).toEqual([]);
});
