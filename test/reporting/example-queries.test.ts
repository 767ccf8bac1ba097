import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { addRows, lifeOf, mergeRows, useStoredRows } from "./stored-rows.ts";

const DIRECTORY = "examples/queries";
const files = readdirSync(DIRECTORY).sort();
const read = (file: string) => readFileSync(`${DIRECTORY}/${file}`, "utf8");

const { add, database, pruneBefore } = useStoredRows();

const HOUR = 3_600_000;
const now = Date.now();
/** Half an hour more, so that no query's clock hits a boundary. */
const ago = (days: number) => new Date(now - days * 24 * HOUR - HOUR / 2);
const day = (days: number) => new Date(now - days * 24 * HOUR).toISOString().slice(0, 10);
const SNAPSHOT_DAYS = Array.from({ length: 41 }, (_, days) => days);

const BOB = { owner: "bob" };
const sized = (bytes: number, dated: number) => ({
  file_size: `${bytes} B`,
  file_size_bytes: bytes,
  last_modified: "a while ago",
  last_modified_at: ago(dated),
});
const scenario = (id: number, name: string, dated: number | null, rest: object = {}) => ({
  scenario_id: id,
  scenario_name: name,
  is_result: false,
  last_modified_at: dated && ago(dated),
  first_seen_at: ago(40),
  changed_at: ago(40),
  ...rest,
});

/**
 * Ann's "forest" is stored for 40 days: 1 has the results 2 and 3, 4 was never run, 5's parent is missing, 6 and 7 were
 * removed 10 days ago; 4 was renamed, 1 was edited and the package upgraded 3 days ago. In Bob's "lake" 1 was edited 9 days ago and run a
 * day later; it was removed 2 days ago, when his "pond" was added, which has failed since yesterday.
 */
const LIVES = mergeRows([
  lifeOf("library", { library_name: "forest" }, [
    [ago(40), { package_name: "stsim", package_version: "9.9.9", ...sized(4096, 100) }],
    [ago(3), { package_version: "10.0.0" }],
  ]),
  lifeOf("library", { ...BOB, library_name: "lake" }, [
    [ago(40), { package_name: "stsim", package_version: "9.9.9", ...sized(1024, 60) }],
    [ago(2), null],
  ]),
  lifeOf("library", { ...BOB, library_name: "pond" }, [
    [ago(2), { package_name: "stsim", package_version: "9.9.9", last_modified: "soon", file_size: "large" }],
  ]),
  lifeOf("scenario", scenario(1, "Burn", null), [
    [ago(40), { last_modified_at: ago(75) }],
    [ago(3), { last_modified_at: ago(60) }],
  ]),
  lifeOf("scenario", scenario(4, "Plan A", 50), [
    [ago(40), {}],
    [ago(3), { scenario_name: "Plan B" }],
  ]),
  ...[6, 7].map((id) =>
    lifeOf("scenario", scenario(id, "Old", null), [
      [ago(40), {}],
      [ago(10), null],
    ]),
  ),
  lifeOf("scenario", scenario(1, "Rain", null, { ...BOB, library_name: "lake" }), [
    [ago(40), {}],
    [ago(9), { last_modified_at: ago(10) }],
  ]),
  lifeOf("scenario", scenario(2, "Rain, first", 9, { ...BOB, library_name: "lake", is_result: true, parent_id: 1 }), [
    [ago(8), {}],
  ]),
  {
    scenarios: [
      scenario(2, "Burn, first", 80, { is_result: true, parent_id: 1 }),
      scenario(3, "Burn, second", 70, { is_result: true, parent_id: 1 }),
      scenario(5, "Stray", 90, { is_result: true, parent_id: 99 }),
    ],
  },
]);

const run = (id: number, days: number, rest: object = {}) => ({
  id,
  started_at: ago(days),
  finished_at: new Date(ago(days).getTime() + 90_500),
  libraries_listed: 2,
  libraries_skipped: 1,
  libraries_read: 1,
  ...rest,
});
const sync = (read: number, rest: object) => ({
  listed_text: "x",
  bookmark: "x",
  bookmark_seen_at: ago(40),
  settles_at: ago(39),
  content_read_at: ago(read),
  last_success_at: ago(read),
  ...rest,
});
const failure = {
  reread_reason: "failure",
  failures: 1,
  last_error: "not_found: answered 404",
  last_failed_at: ago(1),
};

const BOOKKEEPING = {
  sync_runs: [
    run(1, 40, { kind: "backfill", libraries_read: 2, libraries_changed: 2, scenarios_inserted: 7 }),
    run(2, 3, { libraries_changed: 1, scenarios_updated: 1 }),
    run(3, 2, { libraries_changed: 1, libraries_removed: 1 }),
    run(4, 1, { status: "partial", libraries_read: 0, libraries_failed: 1, error: "1 library failed" }),
  ],
  library_sync: [sync(3, { library_name: "forest" }), sync(2, { ...BOB, library_name: "pond", ...failure })],
};

const snapshot = (owner: string, library_name: string, from: number, to: number | null, rest: object = {}) => ({
  ...{ owner, library_name, live: true, scenarios: 1, results: 0, package_name: "stsim", package_version: "9.9.9" },
  from_day: day(from),
  to_day: to === null ? null : day(to),
  ...rest,
});
const NOT_LIVE = { live: false, scenarios: null, results: null, package_name: null, package_version: null };

/** For 41 days, of Bob for 21. Eve's only library was removed 5 days ago, and is known only from here. */
const SNAPSHOTS = {
  snapshot_days: SNAPSHOT_DAYS.map((days) => ({
    day: day(days),
    run_id: 100 - days,
    taken_at: new Date(now - days * 24 * HOUR),
  })),
  library_days: [
    snapshot("ann", "forest", 40, 3),
    snapshot("ann", "forest", 3, null, { package_version: "10.0.0" }),
    snapshot("bob", "lake", 20, 2),
    snapshot("bob", "lake", 2, null, NOT_LIVE),
    snapshot("bob", "pond", 2, null),
    snapshot("eve", "gone", 20, 5, { scenarios: 4, results: 1, bytes: 512 }),
    snapshot("eve", "gone", 5, null, NOT_LIVE),
  ],
  owner_days: SNAPSHOT_DAYS.flatMap((days) => {
    const owner = { day: day(days), scenarios: 1, results: 0, libraries: 1, sizes_unread: 0, not_stored: 0 };
    const read = (hours: number) => new Date(now - (days * 24 + hours) * HOUR);
    const ann = { ...owner, owner: "ann", bytes: 4096, not_stored: Number(days > 20), oldest_read_at: read(2) };
    const bob = { ...owner, owner: "bob", bytes: days > 2 ? 1024 : 0, oldest_read_at: read(5) };
    return days > 20 ? [ann] : [ann, bob];
  }),
};

beforeEach(() => add({ ...LIVES, ...BOOKKEEPING, ...SNAPSHOTS }));

/** Moments as whole days before now, so that they can be written down. */
const plain = (rows: readonly Record<string, unknown>[]) =>
  rows.map((row) =>
    Object.values(row)
      .map((value) =>
        value instanceof Date ? `${Math.round((now - value.getTime()) / HOUR / 24)} days ago` : String(value),
      )
      .join(" | "),
  );

const date = (days: number) => ago(days).toISOString().slice(0, 10);

/** The Monday of the week of a date, in UTC. */
const monday = (text: string) => {
  const at = new Date(`${text}T00:00:00Z`);
  return new Date(at.getTime() - ((at.getUTCDay() + 6) % 7) * 24 * HOUR).toISOString().slice(0, 10);
};

const weeks = (count: number) => {
  const latest = Date.parse(monday(day(0)));
  return Array.from({ length: count }, (_, ago) => new Date(latest - ago * 7 * 24 * HOUR).toISOString().slice(0, 10));
};

/** The last snapshot of each month. */
const monthEnds = (from: number) =>
  SNAPSHOT_DAYS.filter((days) => days <= from && (days === 0 || day(days).slice(0, 7) !== day(days - 1).slice(0, 7)));

/** The history began at the end of the first run. */
const BEGAN = 40;
const isBefore = (days: number, week: string) => ago(days).getTime() < Date.parse(week);

const isIn = (days: number, month: string) => date(days).slice(0, 7) === month.slice(0, 7);

/** Whether the snapshot of so many days ago has a live library that was there from `from` to `to` days ago. */
const has = (days: number, from: number, to: number) => Number(days <= from && days >= to);

/** The answers, if the events are complete since the last prune of events, so many days ago, or since the history began. */
const answersSince = (began: number): Readonly<Record<string, () => readonly string[]>> => ({
  "stale-libraries.sql": () => ["ann | forest | stsim | 10.0.0 | 100 days ago | 100"],
  "parents-never-run.sql": () => ["ann | forest | 4 | Plan B | 50 days ago"],
  "results-per-parent.sql": () => [
    "ann | forest | 1 | Burn | 2 | 3 | Burn, second | 70 days ago",
    "ann | forest | 99 | (missing) | 1 | 5 | Stray | 90 days ago",
  ],
  "storage-by-owner.sql": () => ["ann | 1 | 4096 bytes | 4096 | 0", "bob | 1 | 0 bytes | 0 | 1"],
  "package-versions.sql": () => ["stsim | 10.0.0 | 1 | 1 | 10.0.0 | 0", "stsim | 9.9.9 | 1 | 1 | 10.0.0 | 1"],
  "libraries-behind.sql": () => ["1 | bob | pond | stsim | 9.9.9 | 10.0.0"],
  "changed-since-last-week.sql": () => [
    "2 days ago | removed | library | bob | lake | null | lake | null | null | null | 7 days ago",
    "2 days ago | added | library | bob | pond | null | pond | null | null | null | 7 days ago",
    "3 days ago | changed | library | ann | forest | null | forest | package_version | 9.9.9 | 10.0.0 | 7 days ago",
    "3 days ago | changed | scenario | ann | forest | 4 | Plan B | scenario_name | Plan A | Plan B | 7 days ago",
  ],
  "changes-by-day.sql": () =>
    [
      { day: 2, counts: "library | 1 | 0 | 1 | 0" },
      { day: 3, counts: "library | 0 | 1 | 0 | 0" },
      { day: 3, counts: "scenario | 0 | 2 | 0 | 0" },
      { day: 8, counts: "scenario | 1 | 0 | 0 | 0" },
      { day: 9, counts: "scenario | 0 | 1 | 0 | 0" },
      { day: 10, counts: "scenario | 0 | 0 | 2 | 0" },
    ]
      .filter(({ day }) => day < began)
      .map(({ day, counts }) => `${date(day)} | ${counts} | ${Math.min(14, began)} days ago`),
  "vanished.sql": () => [
    "2 days ago | library | bob | lake | null | lake | 60 days ago | 30 days ago",
    "10 days ago | scenario | ann | forest | 6 | Old | null | 30 days ago",
    "10 days ago | scenario | ann | forest | 7 | Old | null | 30 days ago",
  ],
  "how-fresh.sql": () => ["2 days ago | 48 | 1 days ago | partial | 1 | bob | pond"],
  "failing-libraries.sql": () => ["bob | pond | 1 | failure | not_found: answered 404 | 0 | 2 days ago | 48"],
  "growth.sql": () => [
    `5 | ${day(35)} | 1 | 1 | 4096 | 1`,
    `4 | ${day(28)} | 1 | 1 | 4096 | 1`,
    `3 | ${day(21)} | 1 | 1 | 4096 | 1`,
    `2 | ${day(14)} | 2 | 2 | 5120 | 0`,
    `1 | ${day(7)} | 2 | 2 | 5120 | 0`,
    `0 | ${day(0)} | 2 | 2 | 4096 | 0`,
  ],
  "scenario-tree.sql": () => [
    "Burn | 1 | false | false | false",
    "  Burn, first | 2 | true | false | false",
    "  Burn, second | 3 | true | false | false",
    "Plan B | 4 | false | false | false",
    "Stray | 5 | true | true | false",
  ],
  "data-problems.sql": () => [
    "date_not_understood | library | 1 | bob | pond",
    "parent_missing | scenario | 1 | ann | forest",
    "size_not_understood | library | 1 | bob | pond",
  ],
  "storage-by-month.sql": () => [
    ...monthEnds(40)
      .reverse()
      .map((days) => `ann | ${day(days)} | 4096 | 4096 bytes | false`),
    ...(began < 30 ? [] : [`ann | ${day(-90)} | 4096 | 4096 bytes | true`]),
    ...monthEnds(20)
      .reverse()
      .map((days) => `bob | ${day(days)} | ${days > 2 ? "1024 | 1024" : "0 | 0"} bytes | false`),
  ],
  "results-by-week.sql": () =>
    weeks(12).map((week) => {
      const run = Number(monday(date(9)) === week);
      return `${week} | ${isBefore(began, week) && !isBefore(1, week) ? `${run} | ${run} | ${run}` : "null | null | null"}`;
    }),
  "stale-results.sql": () => ["ann | forest | 1 | 60 days ago | 70 days ago | 10 | 2"],
  "edit-to-result.sql": () => [`ann | 2 | 0 | null | ${began} days ago`, `bob | 1 | 1 | 24.0 | ${began} days ago`],
  "adoption.sql": () => {
    const mondays = SNAPSHOT_DAYS.filter((days) => monday(day(days)) === day(days)).reverse();
    const old = (days: number) => has(days, 40, 4) + has(days, 20, 3) + has(days, 2, 0) + has(days, 20, 6);
    const row = (version: string, days: number, libraries: number) =>
      libraries === 0
        ? []
        : [
            `stsim | ${version} | ${day(days)} | ${libraries} | ${Math.round((100 * libraries) / (old(days) + has(days, 3, 0)))}`,
          ];
    return [
      ...mondays.flatMap((days) => row("10.0.0", days, has(days, 3, 0))),
      ...mondays.flatMap((days) => row("9.9.9", days, old(days))),
    ];
  },
  "activity-by-owner.sql": () => {
    const since = `${Math.min(30, began)} days ago`;
    const ann = `ann | 0 | 0 | 2 | 0 | 0 | 3 days ago | ${since}`;
    const bob = `bob | 1 | 0 | 1 | 1 | 1 | 2 days ago | ${since}`;
    // The one with more events is first; Ann has one more 10 days ago.
    return began > 10 ? [ann, bob] : [bob, ann];
  },
  "lineage-depth.sql": () => ["0 | 3 | 1 | 1", "1 | 2 | 2 | 1"],
  "freshness-last-tuesday.sql": () => {
    const days = [1, 2, 3, 4, 5, 6, 7].find((back) => new Date(`${day(back)}T00:00:00Z`).getUTCDay() === 2) ?? 0;
    return [`${day(days)} | bob | 1 | ${days} days ago | 5`, `${day(days)} | ann | 1 | ${days} days ago | 2`];
  },
  "what-a-removed-owner-had.sql": () => [`eve | gone | ${day(6)} | 4 | 1 | 512 | stsim | 9.9.9`],
  "churn.sql": () =>
    weeks(8).map((week) => {
      const first = SNAPSHOT_DAYS.findLast((days) => monday(day(days)) === week);
      const start = Date.parse(week);
      const hasRun = [BEGAN, 3, 2, 1].some((days) => monday(date(days)) === week);
      if (first === undefined || !hasRun || start + 7 * 24 * HOUR < ago(began).getTime())
        return `${week}${" | null".repeat(7)}`;
      const libraries = first > 20 ? 1 : 2;
      const inWeek = (days: number) => Number(monday(date(days)) === week && days < began);
      const since = Math.round((now - Math.max(start, ago(began).getTime())) / HOUR / 24);
      const gone = 2 * inWeek(2) + 2 * inWeek(10);
      const percent = ((100 * inWeek(2)) / libraries).toFixed(1);
      return `${week} | ${since} days ago | ${libraries} | ${inWeek(2)} | ${inWeek(2)} | ${inWeek(8)} | ${gone} | ${percent}`;
    }),
  "most-rerun.sql": () => ["ann | forest | 1 | Burn | 2 | 70 days ago", "ann | forest | 99 | null | 1 | 90 days ago"],
  "old-package-results.sql": () => ["ann | forest | stsim | 9.9.9 | 10.0.0 | 3"],
  "storage-freed-by-month.sql": () =>
    Array.from({ length: 12 }, (_, back) => {
      const first = new Date(Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() - back, 1));
      const next = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1));
      const month = first.toISOString().slice(0, 10);
      if (next.getTime() < ago(began).getTime() || ![40, 3, 2, 1].some((days) => isIn(days, month)))
        return `${month} | null | null | null`;
      const since = Math.round((now - Math.max(first.getTime(), ago(began).getTime())) / HOUR / 24);
      const freed = isIn(2, month) && began > 2 ? 1024 : 0;
      return `${month} | ${since} days ago | ${freed} | 0`;
    }),
  "lost-a-fifth.sql": () => (began > 10 ? [`ann | forest | 7 | 5 | 28.6 | ${Math.min(30, began)} days ago`] : []),
  "moved-libraries.sql": () => [],
  "fresh-time.sql": () => {
    const started = [40, 3, 2, 1].map((days) => ago(days).getTime());
    return weeks(12).map((week) => {
      const [begins, ends] = [Date.parse(week), Date.parse(week) + 7 * 24 * HOUR];
      const spans = started.flatMap((at, index) => {
        const [from, to] = [at + 90_500, index < 3 ? (started[index + 1] ?? 0) + 90_500 : now];
        return from < ends && to > begins ? [{ at, from: Math.max(from, begins), to: Math.min(to, ends) }] : [];
      });
      if (spans.length === 0) return `${week} | null | null`;
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
      const fresh = sum(spans.map(({ at, from, to }) => Math.max(Math.min(to, at + 2 * HOUR) - from, 0)));
      const percent = (100 * fresh) / sum(spans.map(({ from, to }) => to - from));
      const oldest = Math.max(...spans.map(({ at, to }) => to - at));
      return `${week} | ${percent.toFixed(1)} | ${Math.floor(oldest / HOUR)}`;
    });
  },
  "last-runs.sql": () => [
    "4 | sync | partial | 1 days ago | 90.5 | 2 listed, 0 read, 0 changed, 0 removed, 1 failed; scenarios +0 ~0 -0 | 1 library failed",
    "3 | sync | ok | 2 days ago | 90.5 | 2 listed, 1 read, 1 changed, 1 removed, 0 failed; scenarios +0 ~0 -0 | null",
    "2 | sync | ok | 3 days ago | 90.5 | 2 listed, 1 read, 1 changed, 0 removed, 0 failed; scenarios +0 ~1 -0 | null",
    "1 | backfill | ok | 40 days ago | 90.5 | 2 listed, 2 read, 2 changed, 0 removed, 0 failed; scenarios +7 ~0 -0 | null",
  ],
});
const ANSWERS = answersSince(BEGAN);

/** Dates stay texts: pg returns them as local midnight. */
const types = { getTypeParser: (id: number) => (id === pg.types.builtins.DATE ? String : pg.types.getTypeParser(id)) };

const answerOf = async (file: string) => {
  // A slow test may take minutes, not hours.
  const text = read(file).replace("FROM age) / 60)", "FROM age) / 3600)");
  return plain((await database().pool.query<Record<string, unknown>>({ text, types })).rows);
};

test("each example asks a question in its first line, uses only the report's views, and answers it", async () => {
  expect(files).toEqual(Object.keys(ANSWERS).sort());
  for (const file of files) {
    expect(read(file), file).toMatch(/^-- [A-Z].*\?\n[\s\S]*simcat_report\./);
    expect(read(file), file).not.toMatch(/\bsimcat\./);
    expect(await answerOf(file), file).toEqual(ANSWERS[file]?.());
  }
});

test("weeks and months after the last run have no numbers, not zeros (fault 205)", async () => {
  await database().query("DELETE FROM simcat.sync_runs WHERE id > 1");
  const numbersOf = async (file: string) => (await answerOf(file)).filter((row) => !/^\S+ \| null/.test(row));
  expect(await numbersOf("results-by-week.sql")).toEqual([]);
  const month = `${date(BEGAN).slice(0, 7)}-01`;
  expect(await numbersOf("storage-freed-by-month.sql")).toEqual([`${month} | 40 days ago | 0 | 0`]);
});

test("last-runs.sql has no duration of a run whose process died (fault 284)", async () => {
  await database().query("UPDATE simcat.sync_runs SET status = 'abandoned' WHERE id = 3");
  const runs = (await answerOf("last-runs.sql")).map((row) => row.split(" | "));
  expect(runs.map(([id, , , , seconds]) => `${id}: ${seconds}`)).toEqual(["4: 90.5", "3: null", "2: 90.5", "1: 90.5"]);
});

test("a month between two runs, in which none was, has no freed storage (fault 243)", async () => {
  await database().query("UPDATE simcat.sync_runs SET started_at = $1, finished_at = $1 WHERE id = 1", [ago(100)]);
  const months = (await answerOf("storage-freed-by-month.sql")).map((row) => row.split(" | "));
  for (const [month = "", since] of months)
    expect(since !== "null", month).toBe([100, 3, 2, 1].some((days) => isIn(days, month)));
});

test("a result that returned after its removal was pruned was run once (fault 263)", async () => {
  await database().query(
    `INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, scenario_id, is_result, service_date, bytes, scenarios, results)
     SELECT $1, 4, kind, owner, library_name, scenario_id, is_result, service_date, bytes, scenarios, results
     FROM simcat.events WHERE library_name = 'lake' AND scenario_id = 2`,
    [ago(1)],
  );
  expect(await answerOf("results-by-week.sql")).toEqual(ANSWERS["results-by-week.sql"]?.());
});

test("a library that was read first in the last days has lost what went since (fault 205)", async () => {
  await addRows(database(), "events", [{ seen_at: ago(12), kind: "loaded", scenarios: 7 }]);
  expect(await answerOf("lost-a-fifth.sql")).toEqual(["ann | forest | 7 | 5 | 28.6 | 30 days ago"]);
});

test("libraries that moved to another owner change no answer but that of moved-libraries.sql (fault 240)", async () => {
  await database().query(
    `INSERT INTO simcat.events (seen_at, run_id, kind, owner, library_name, scenario_id, is_result, service_date, bytes, scenarios, results)
     SELECT $1::timestamptz + n * interval '1 second', 3, kind, owner, 'Lib ' || n, id, is_result, $2, bytes, scenarios, results
     FROM generate_series(1, 2) AS n, (VALUES ('removed', 'eve', NULL, NULL, -9, -2, -1), ('added', 'eva', NULL, NULL, 9, 0, 0),
       ('added', 'eva', 1, false, 0, 1, 0), ('added', 'eva', 2, true, 0, 1, 1)) AS moved (kind, owner, id, is_result, bytes, scenarios, results)`,
    [ago(2), ago(9)],
  );
  // They were stored at several times, and are one line.
  const answers: typeof ANSWERS = { ...ANSWERS, "moved-libraries.sql": () => ["2 days ago | eve | eva | 2 | 4"] };
  // It lists the changes as they were stored.
  for (const file of files.filter((file) => file !== "changed-since-last-week.sql"))
    expect(await answerOf(file), file).toEqual(answers[file]?.());
});

test("of equal libraries that come and go in one run, each is in one move at most (fault 353)", async () => {
  const move = async (run: number, ...events: readonly string[]) => {
    const rows = events.map((event) => event.split(" "));
    const seen = { seen_at: ago(2), run_id: run };
    const full = rows.map(([kind, owner, library_name]) => ({ ...seen, kind, owner, library_name }));
    await addRows(database(), "events", full);
    const lines = (sql: string) => database().lines(`${sql} WHERE run_id = ${run}`);
    const pairs = await lines("SELECT old_owner, new_owner, library_name FROM simcat_report.library_moves");
    const [net] = await lines(
      "SELECT coalesce(sum(library_change) FILTER (WHERE NOT is_move), 0) FROM simcat_report.events",
    );
    return { pairs: pairs.sort(), net };
  };
  const twoToOne = await move(201, "removed a Lib", "removed b Lib", "added c Lib");
  expect(twoToOne).toEqual({ pairs: ["a c Lib"], net: "-1" });
  const twoToTwo = await move(202, "removed a Lib", "removed b Lib", "added c Lib", "returned d Lib");
  expect(twoToTwo).toEqual({ pairs: ["a c Lib", "b d Lib"], net: "0" });
});

test("the libraries at the start of a week are those before its first run (faults 241, 259)", async () => {
  const week = monday(date(2));
  await database().query("DELETE FROM simcat.snapshot_days WHERE day >= $1 AND day < $2", [week, date(2)]);
  await addRows(database(), "events", [
    { ...BOB, library_name: "sea", seen_at: ago(2), run_id: 98, kind: "removed" },
    { ...BOB, library_name: "bay", seen_at: ago(2), run_id: 99, kind: "added" },
  ]);
  const [line] = (await answerOf("churn.sql")).filter((row) => row.startsWith(week));
  const [, , atStart, added, removed, , , percent] = line?.split(" | ") ?? [];
  expect({ atStart, added, removed, percent }).toEqual({ atStart: "3", added: "2", removed: "2", percent: "66.7" });
});

test("where a prune cut a week short, its start is that of the rest (fault 241)", async () => {
  const days = [3, 4].find((each) => monday(day(each + 1)) === monday(day(each))) ?? 3;
  await database().query("UPDATE simcat.owner_days SET libraries = 5 WHERE owner = 'bob' AND day >= $1", [day(days)]);
  await addRows(database(), "prunes", [{ id: 1, pruned_at: ago(0), cutoff: ago(days), events: true }]);
  const [line] = (await answerOf("churn.sql")).filter((row) => row.startsWith(monday(day(days))));
  expect(line?.split(" | ").slice(1, 3)).toEqual([`${days} days ago`, "6"]);
});

test("a library that came and went within a week is not removed from those at its start (fault 241)", async () => {
  const removals = async () => {
    const [line] = (await answerOf("churn.sql")).filter((row) => row.startsWith(monday(date(2))));
    const [, , atStart, , removed, , , percent] = line?.split(" | ") ?? [];
    return { atStart, removed, percent };
  };
  expect(await removals()).toEqual({ atStart: "2", removed: "1", percent: "50.0" });
  const brief = ["added", "removed", "returned", "removed"].map((kind, at) => {
    return { ...BOB, library_name: "bay", seen_at: new Date(ago(2).getTime() + at * 1_000), run_id: 99 + at, kind };
  });
  await addRows(database(), "events", brief);
  expect(await removals()).toEqual({ atStart: "2", removed: "3", percent: "50.0" });
});

test("a week in which no run ended has no numbers, not zeros (fault 397)", async () => {
  await database().query("DELETE FROM simcat.sync_runs WHERE id > 1");
  const rows = await answerOf("churn.sql");
  expect(rows.filter((row) => !row.includes(" | null | null"))).toHaveLength(1);
});

test("a week without a snapshot has what runs of some libraries found, and no start (fault 397)", async () => {
  const week = monday(date(2));
  await database().query("DELETE FROM simcat.snapshot_days WHERE day >= $1", [week]);
  const [line] = (await answerOf("churn.sql")).filter((row) => row.startsWith(week));
  const [, , atStart, added, removed, , , percent] = line?.split(" | ") ?? [];
  expect({ atStart, added, removed, percent }).toEqual({ atStart: "null", added: "1", removed: "1", percent: "null" });
});

test("results of an earlier date in a library that was published later were not run now (fault 397)", async () => {
  const published = {
    ...BOB,
    library_name: "old",
    seen_at: ago(1),
    run_id: 4,
    kind: "added",
    scenarios: 1,
    results: 1,
  };
  const results = [200, null, 5].map((dated, at) => ({
    ...published,
    scenario_id: at,
    is_result: true,
    service_date: dated && ago(dated),
  }));
  await addRows(database(), "events", results);
  expect((await answerOf("activity-by-owner.sql")).find((row) => row.startsWith("bob"))).toMatch(/^bob \| 3 \| 0 /);
});

test("a library that shrank to nothing freed its size, and so did one that went on living (fault 397)", async () => {
  const edited = { bytes: 0, seen_at: ago(1), run_id: 4, kind: "changed" };
  await addRows(database(), "events", [{ ...edited, bytes: -4096, seen_at: ago(2), run_id: 3 }, edited]);
  await database().query("UPDATE simcat.libraries SET file_size_bytes = 0 WHERE library_name = 'forest'");
  const shrunk = (await answerOf("storage-freed-by-month.sql")).map((row) => Number(row.split(" | ").at(-1)) || 0);
  expect(shrunk.reduce((sum, bytes) => sum + bytes)).toBe(4096);
});

test("content that was read late is no growth of the storage in 90 days (fault 397)", async () => {
  const forecast = async () => (await answerOf("storage-by-month.sql")).filter((row) => /^ann.*true$/.test(row));
  await database().query("UPDATE simcat.owner_days SET bytes = 2048 WHERE owner = 'ann' AND day < $1", [day(35)]);
  await addRows(database(), "events", [{ seen_at: ago(35), run_id: 65, kind: "loaded", bytes: 2048 }]);
  expect(await forecast()).toEqual([`ann | ${day(-90)} | 4096 | 4096 bytes | true`]);
  await addRows(database(), "events", [{ seen_at: ago(3), run_id: 97, kind: "loaded", scenario_id: 9, scenarios: 1 }]);
  expect(await forecast()).toHaveLength(1);
  await addRows(database(), "events", [{ seen_at: ago(20), run_id: 80, kind: "loaded", bytes: 1 }]);
  expect(await forecast()).toEqual([]);
  await pruneBefore(ago(19), "--events");
  expect(await forecast()).toEqual([]);
});

test("an owner whose only library could not be read yet has libraries (fault 397)", async () => {
  await addRows(database(), "library_sync", [
    sync(0, { owner: "eve", library_name: "new", content_read_at: null, ...failure }),
  ]);
  expect(await answerOf("what-a-removed-owner-had.sql")).toEqual([]);
});

test("the copy was as old as the cached listing of its last run (fault 396)", async () => {
  const freshest = async () =>
    Math.max(...(await answerOf("fresh-time.sql")).map((row) => Number(row.split(" | ")[1]) || 0));
  expect(await freshest()).toBeGreaterThan(0);
  await database().query("UPDATE simcat.sync_runs SET listing_as_of = $1", [ago(41)]);
  expect(await freshest()).toBe(0);
});

test("initial content that was only read later was there at the start of a week (fault 241)", async () => {
  const atStart = async () => (await answerOf("churn.sql")).map((row) => Number(row.split(" | ")[2]));
  const before = await atStart();
  await addRows(database(), "events", [{ library_name: "sea", seen_at: ago(0), run_id: 100, kind: "loaded" }]);
  const isLater = (week: string) => SNAPSHOT_DAYS.findLast((days) => monday(day(days)) === week) !== 0;
  expect(await atStart()).toEqual(before.map((count, at) => count + Number(isLater(weeks(8)[at] ?? ""))));
});

test("a size that became unknown freed no storage, after a prune of the events too (fault 243)", async () => {
  const shrunk = async () =>
    (await answerOf("storage-freed-by-month.sql")).flatMap((row) => Number(row.split(" | ").at(-1)) || []);
  const sizes = [-96, -4000, 4000].map((bytes, at) => ({ bytes, seen_at: new Date(ago(3).getTime() + at * 1_000) }));
  await addRows(
    database(),
    "events",
    sizes.map((one) => ({ ...one, run_id: 2, kind: "changed" })),
  );
  await database().query("UPDATE simcat.libraries SET file_size_bytes = 4000 WHERE library_name = 'forest'");
  expect((await shrunk()).reduce((sum, bytes) => sum + bytes)).toBe(96);
  await pruneBefore(ago(9.5), "--events");
  expect((await shrunk()).reduce((sum, bytes) => sum + bytes)).toBe(96);
});

test("before a run saw everything no example names changes or a time since which it does (fault 244)", async () => {
  await database().query("DELETE FROM simcat.sync_runs");
  const named = [
    "changed-since-last-week",
    "changes-by-day",
    "activity-by-owner",
    "vanished",
    "lost-a-fifth",
    "edit-to-result",
  ];
  for (const name of named) expect(await answerOf(`${name}.sql`), name).toEqual([]);
});

test("an owner who has no library any more has no forecast of storage (fault 246)", async () => {
  const forecasts = async () => (await answerOf("storage-by-month.sql")).filter((row) => row.endsWith("true"));
  expect(await forecasts()).toHaveLength(1);
  await database().query("UPDATE simcat.owner_days SET libraries = 0, bytes = 0 WHERE day > $1", [day(5)]);
  expect(await forecasts()).toEqual([]);
});

/** What was removed before a prune is forgotten. */
const PRUNED: Readonly<Record<string, string[]>> = {
  "vanished.sql": ["2 days ago | library | bob | lake | null | lake | 60 days ago | 10 days ago"],
};

test("after a prune of the history each example answers the same, but for removed rows (fault 205)", async () => {
  await pruneBefore(ago(9.5));
  for (const file of files) expect(await answerOf(file), file).toEqual(PRUNED[file] ?? ANSWERS[file]?.());
});

test("after a prune of the events no example has a number for a time before it (fault 205)", async () => {
  await pruneBefore(ago(9.5), "--events");
  const answers = answersSince(9.5);
  for (const file of files) {
    const rounded = answers[file]?.().map((row) => row.replace("9.5 days ago", "10 days ago"));
    expect(await answerOf(file), file).toEqual(PRUNED[file] ?? rounded);
  }
});
