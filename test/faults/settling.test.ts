import { expect, test } from "vitest";
import { type Fixture, fixture } from "../support/fixture.ts";
import { library, scenario } from "../support/organization.ts";
import { ROWS_OF_RUNS, rowVersions } from "../support/row-versions.ts";
import { always, headers } from "./answers.ts";
import { libraries } from "./removals.ts";
import { lastRun, logLines } from "./run-results.ts";

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
  expect(await made.lines("SELECT scenario_name FROM simcat.scenarios")).toEqual(["edited in the same minute"]);
  expect(await made.lines("SELECT sum(silent_changes) FROM simcat.sync_runs")).toEqual(["0"]);

  const before = await rowVersions(made.query, ROWS_OF_RUNS);
  expect(await readBy(made)).toEqual([]);
  expect(await rowVersions(made.query, ROWS_OF_RUNS)).toEqual(before);
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

test("an old date does not settle at once without a Date header that proves it old (fault 57)", async () => {
  const variants = [
    ["no Date on metadata", "metadata", null],
    ["no Date on scenarios", "scenarios", null],
    ["a Date before the edit", "scenarios", "Mon, 11 Sep 2023 14:00:00 GMT"],
    ["a Date within 14 hours of the edit", "metadata", "Tue, 12 Sep 2023 04:58:00 GMT"],
  ] as const;
  const made = await fixture([
    ...variants.map(([name]) => library("alice", name)),
    library("alice", "a Date beyond all zones"),
    library("alice", "good"),
  ]);
  made.service.script([
    ...variants.map(([name, operation, date]) => always({ library: name, operation }, headers({ date }))),
    always({ library: "a Date beyond all zones" }, headers({ date: "Tue, 12 Sep 2023 05:00:00 GMT" })),
  ]);
  await readBy(made);

  await passMinutes(made.query, 1);

  expect(await readBy(made)).toEqual(variants.map(([name]) => name).toSorted());
});

test("cached answers and other metadata dates do not settle; three such reads lead to a warning (fault 57)", async () => {
  const dated = (lastModified: string | null) => ({ metadataFields: { lastModified } });
  const made = await fixture([
    library("alice", "Age 0"),
    library("alice", "Age 1 on metadata"),
    library("alice", "Age 30"),
    library("alice", "metadata of another minute", dated("2023-09-11 at 2:57 PM")),
    library("alice", "metadata of the same moment in ISO", dated("2023-09-11T14:56:12.997Z")),
    library("alice", "metadata without a date", dated(null)),
  ]);
  made.service.script([
    always({ library: "Age 0" }, headers({ age: "0" })),
    always({ library: "Age 1 on metadata", operation: "metadata" }, headers({ age: "1" })),
    always({ library: "Age 30", operation: "scenarios" }, headers({ age: "30" })),
  ]);
  const doubted = ["Age 1 on metadata", "Age 30", "metadata of another minute"];
  expect(await readBy(made)).toHaveLength(6);

  expect(await readBy(made)).toEqual(doubted);
  expect(await readBy(made)).toEqual(doubted);
  const suspectReads = () => made.lines("SELECT DISTINCT suspect_reads FROM simcat.library_sync ORDER BY 1");
  expect(await suspectReads()).toEqual(["0", "3"]);

  await passMinutes(made.query, 26 * 60);
  made.asked();
  const fourth = await made.call(["sync"]);
  expect(made.asked()).toHaveLength(1 + 2 * doubted.length);
  expect(logLines(fourth).filter(({ code }) => code === "content_suspect")).toMatchObject([{ level: "warn" }]);
  expect(await readBy(made)).toEqual([]);

  made.service.script([]);
  made.service.change("alice", "metadata of another minute", dated("2023-09-11 at 2:56 PM"));
  await passMinutes(made.query, 3 * 24 * 60);
  expect(await readBy(made)).toEqual(doubted);
  expect(await readBy(made)).toEqual([]);
  expect(await suspectReads()).toEqual(["0"]);
  expect(made.service.requests.every(({ headers }) => headers["cache-control"] === "no-cache")).toBe(true);
});

test("content from a cache is complete as of the time at which the cache stored it (fault 277)", async () => {
  const made = await fixture([library("alice", "lib", { scenarios: [1, 2] })]);
  const sync = async (...answers: Parameters<typeof made.service.script>[0]) => {
    made.service.script(answers);
    const { code } = await made.call(["backfill", "--restart"]);
    const [minutes] = await made.lines(
      `SELECT extract(epoch FROM now() - complete_as_of)::int / 60, (SELECT now() - last_whole_read_at > '1 h' FROM simcat_report.library_freshness)
       FROM simcat_report.data_complete_as_of`,
    );
    return [code, minutes];
  };
  const aged = (operation: "metadata" | "scenarios", age: string) => always({ operation }, headers({ age }));
  const broken = always({ operation: "scenarios" }, { kind: "alterItem", index: 0, set: { scenarioName: 1 } });

  expect(await sync()).toEqual([0, "0 false"]);
  expect(await sync(aged("metadata", "7200"), aged("scenarios", "600"))).toEqual([0, "121 true"]);
  expect(await sync(broken)).toEqual([2, "121 true"]);
  expect(await sync(aged("metadata", "10800"), broken)).toEqual([2, "181 true"]);
  expect(await sync()).toEqual([0, "0 false"]);
  expect(await sync(aged("scenarios", "soon"))).toEqual([0, "NULL NULL"]);
  expect(await sync(aged("scenarios", "0"))).toEqual([0, "0 false"]);
});

test("content is read in full within SIMCAT_FULL_EVERY, and undated changes are counted", async () => {
  const made = await fixture(libraries("alice", 0, 12));
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

test("an undated change counts too if the rows stay as they were (fault 352)", async () => {
  const ids = Array.from({ length: 12 }, (_, at) => at + 1);
  const made = await fixture([
    library("alice", "shorter", { scenarios: ids }),
    library("alice", "invalid", { scenarios: [1, 2] }),
    library("alice", "all invalid", { scenarios: [1] }),
    library("alice", "nameless", { scenarios: [1, 2, 3] }),
    library("alice", "broken"),
  ]);
  await readBy(made);
  made.service.change("alice", "shorter", { scenarios: [scenario(1)] });
  const nameless = [1, 2, 3].map((id) => scenario(id, { fields: { scenarioName: undefined } }));
  made.service.change("alice", "nameless", { scenarios: nameless });
  const isNo = { kind: "alterItem", index: 0, set: { isResult: "no" } } as const;
  made.service.script([
    always({ pathPattern: "invalid/scenarios" }, isNo),
    always({ library: "broken" }, { kind: "status", status: 404 }),
  ]);

  await made.call(["backfill"]);
  const counts =
    "SELECT libraries_changed, scenarios_removed, silent_changes FROM simcat.sync_runs ORDER BY id DESC LIMIT 1";
  expect(await made.lines(counts)).toEqual(["0 0 4"]);
  await made.call(["backfill", "--restart"]);
  expect(await made.lines(counts)).toEqual(["1 11 0"]);
});
