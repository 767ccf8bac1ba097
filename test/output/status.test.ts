import { expect, test } from "vitest";
import type { StatusRows } from "../../src/db/read/read-status.ts";
import type { LiveRun, RunRow } from "../../src/db/read/recent-runs.ts";
import { formatStatus, toStatusJson } from "../../src/output/status.ts";
import { ago, failing, NOW, runRow as run } from "../support/status-rows.ts";

const QUIET: StatusRows = {
  now: NOW,
  runs: [run(12)],
  lastGoodRun: run(12),
  seenAsOf: ago(180),
  holder: null,
  liveRuns: new Map(),
  slices: [],
  libraries: {
    ...{ live: 212, removed: 4, neverStored: 0, owing: 0, settled: 209 },
    ...{ oldestContentReadAt: ago(4320), cachedContentAsOf: null },
  },
  scenarios: 4120,
  failing: { total: 0, shown: [] },
  rejects: { total: 0, groups: 0, shown: [] },
};

const liveRun = (id: number, rest: Partial<LiveRun> = {}) =>
  new Map([[id, { id, holder: "host:42", read: 0, known: 1, ...rest }]]);

const text = (rows: Partial<StatusRows>, columns = 120) => formatStatus({ ...QUIET, ...rows }, columns).split("\n");

test("a copy without problems takes a few lines, and says that its last good run started then (fault 311)", () => {
  expect(text({})).toEqual([
    "last good run  run 12 (ok), started 2026-07-01T09:00:00Z (3 h ago)",
    "libraries      212 live, 4 removed",
    "dates          209 settled, 3 not settled yet",
    "scenarios      4,120 live",
    "oldest read    2026-06-28T12:00:00Z (3 d ago)",
    "",
    "run  kind  status  started  took  at                    read  skipped  changed  failed  removed",
    " 12  sync  ok      3 h ago  12 s  2026-07-01T09:00:00Z     3      209        2       0        0",
    "",
    "next: nothing; simcat start keeps the copy up to date",
  ]);
});

test.each([
  [
    80,
    [
      "run  kind  status  started  took  read  skipped  changed  failed  removed",
      " 12  sync  ok      3 h ago  12 s     3      209        2       0        0",
    ],
  ],
  [
    60,
    [
      "run  kind  status  started  read  changed  failed  removed",
      " 12  sync  ok      3 h ago     3        2       0        0",
    ],
  ],
])("on %i columns the table of runs omits the least important columns", (columns, table) => {
  expect(text({}, columns).slice(6, 8)).toEqual(table);
});

test("a copy whose last good run is over 26 hours ago needs a run (fault 212)", () => {
  const lastAt = (minutes: number) => {
    const last = run(12, { startedAt: ago(minutes) });
    return text({ runs: [last], lastGoodRun: last }).at(-1);
  };
  expect(lastAt(26 * 60)).toBe("next: nothing; simcat start keeps the copy up to date");
  expect(lastAt(26 * 60 + 1)).toBe(
    "next: run simcat sync, because the last good run is old; simcat start keeps the copy up to date",
  );
});

test("a copy that a cache answered is not up to date (fault 396)", () => {
  const nextOf = (seenAsOf: Date | null, cachedContentAsOf: Date | null = null) =>
    text({ seenAsOf, libraries: { ...QUIET.libraries, cachedContentAsOf } }).at(-1);
  const listing = "because a cache answers the listing or it is incomplete: simcat sync warns of it";
  expect(nextOf(ago(26 * 60), ago(26 * 60))).toBe("next: nothing; simcat start keeps the copy up to date");
  expect(nextOf(ago(26 * 60 + 1))).toBe(
    `next: no run has seen everything since 2026-06-30T09:59:00Z (26 h ago), ${listing}`,
  );
  expect(nextOf(null)).toBe(`next: no run has seen everything yet, ${listing}`);
  const content = "configure it to pass the requests of simcat through";
  expect(nextOf(ago(180), new Date(0))).toBe(`next: a cache answers requests for content, of unknown age: ${content}`);
});

test("after a run of some libraries the last run of all of them says what to do (fault 212)", () => {
  const selected = run(14, { scope: { libraries: [], owners: ["ann"] } });
  const nextAfter = (whole: RunRow, good: RunRow) =>
    text({ runs: [selected, whole, run(12)], lastGoodRun: good }).at(-1);
  const held = run(13, { status: "held", error: "5 of 9 would be marked removed" });
  expect(nextAfter(held, held)).toBe(
    "next: simcat sync --dry-run shows what is still held; if the removals are right, run simcat sync --allow-removals",
  );
  const bad = "next: run simcat sync, because the last run of all libraries was not good";
  expect(nextAfter(run(13, { status: "unauthorized", error: "401" }), run(12))).toBe(bad);
  expect(nextAfter(run(13, { status: "partial" }), run(12))).toBe(bad);
  expect(nextAfter(run(13), run(13))).toBe("next: nothing; simcat start keeps the copy up to date");
});

test("a run of everything that could read no entry was not one of selected libraries (fault 212)", () => {
  const group = { kind: "listing", code: "missing_field", count: 2, firstSeenAt: ago(5) };
  const rejects = { total: 2, groups: 1, shown: [{ owner: null, name: null, ...group }] };
  expect(text({ runs: [run(1, { status: "partial" })], lastGoodRun: null, rejects }).at(-1)).toBe(
    "next: simcat check shows what is wrong with the listing",
  );
});

test("before the first run it prints the first command to run, without libraries no oldest read (fault 346)", () => {
  const none = { oldestContentReadAt: null, cachedContentAsOf: null };
  const nothing = { ...none, live: 0, removed: 0, neverStored: 0, owing: 0, settled: 0 };
  expect(text({ runs: [], lastGoodRun: null, libraries: nothing, scenarios: 0 })).toEqual([
    "no run yet",
    "next: nothing has been synced yet: run simcat check, then simcat backfill",
  ]);
  expect(text({ libraries: nothing })).toContain("oldest read    none");
});

test("a run whose lease has expired is dead since an unknown time, another is at work (faults 284, 307)", () => {
  const unknown = { skipped: null, changed: null, removed: null };
  const runs = [
    run(13, { status: "running", startedAt: ago(2), finishedAt: null, ...unknown, read: null, failed: null }),
  ];
  expect(text({ runs, liveRuns: liveRun(13, { read: 12, known: 1300 }) }).slice(6)).toEqual([
    "run  kind  status   started    took        at                    read  skipped  changed  failed  removed",
    " 13  sync  running  2 min ago  2 min 00 s  2026-07-01T11:58:00Z    12",
    "run 13: in progress, by host:42; 12 of 1,300 known libraries read",
    "",
    "next: wait for the run in progress, then run simcat status again",
  ]);
  const abandoned = run(12, { status: "abandoned", finishedAt: ago(2), ...unknown });
  const dead = runs.map((one) => ({ ...one, isDead: true }));
  expect(text({ runs: [...dead, abandoned] }).slice(6)).toEqual([
    "run  kind  status     started    took  at                    read  skipped  changed  failed  removed",
    " 13  sync  dead       2 min ago        2026-07-01T11:58:00Z",
    " 12  sync  abandoned  3 h ago          2026-07-01T09:00:00Z     3                         0",
    "run 13: the process has ended; the next run marks this as abandoned",
    "",
    "next: run simcat sync; it continues from what is stored",
  ]);
});

test("a failed run is shown with the first line of its error and a hint, also for a key in a file (fault 325)", () => {
  const error = "GET /libs answered 401; the service refused the key\nand more";
  const runs = [run(14, { status: "unauthorized", error }), run(13, { scope: { libraries: [], owners: ["o"] } })];
  expect(text({ runs }).slice(6)).toEqual([
    "run  kind             status        started  took  at                    read  skipped  changed  failed  removed",
    " 14  sync             unauthorized  3 h ago  12 s  2026-07-01T09:00:00Z     3      209        2       0        0",
    " 13  sync (selected)  ok            3 h ago  12 s  2026-07-01T09:00:00Z     3      209        2       0        0",
    "run 14: GET /libs answered 401; the service refused the key",
    "",
    "next: replace the key by a valid one; simcat check shows whether the service accepts it",
  ]);
  expect(text({ runs }, 40)).toContain("run 14: GET /libs answered 401; the service refused the key");
});

test("only a backfill of the same scope continues an interrupted one (fault 324)", () => {
  const next = (rest: Parameters<typeof run>[1]) => text({ runs: [run(14, rest)] }).at(-1);
  expect(next({ kind: "backfill", status: "interrupted" })).toBe(
    "next: run simcat backfill; it continues from what is stored",
  );
  const scope = { libraries: [], owners: ["o"] };
  expect(next({ kind: "backfill", status: "running", isDead: true, scope })).toBe(
    "next: run simcat backfill with the same selection; it continues from what is stored",
  );
  expect(next({ status: "source_unavailable", scope })).toBe(
    "next: simcat check shows whether the service answers again; then run simcat sync",
  );
});

test("an untrusted answer may need another setting than the URL, which check names (fault 325)", () => {
  const runs = [run(14, { status: "source_untrusted", error: "GET /libs answered with more than is accepted" })];
  expect(text({ runs }).at(-1)).toBe(
    "next: simcat check shows what is wrong with the answers of the service; then run simcat sync",
  );
});

test("runs that ended with one error share a line; errors before the last good run are not repeated", () => {
  const error = "GET /libs answered 503 after 5 attempts";
  const runs = [14, 13, 12].map((id) => run(id, { status: "source_unavailable", error }));
  const all = [...runs, run(11, { status: "unauthorized", error: "GET /libs answered 401" })];
  const notes = (lastGood: number) =>
    text({ runs: all, lastGoodRun: run(lastGood) }).filter((line) => /^runs? \d/.test(line));
  expect(notes(9)).toEqual([`runs 14, 13, 12: ${error}`, "run 11: GET /libs answered 401"]);
  expect(notes(12)).toEqual([`runs 14, 13, 12: ${error}`]);
});

test("failing libraries with the same error share a line, whose number is never cut (fault 276)", () => {
  const boom = { failures: 4, reason: "500 boom", lastError: "500 boom", alike: 52 };
  const other = failing("bo", "B", { failures: 4, reason: "timeout", lastError: "timeout", alike: 1 });
  const shown = [failing("ann", "A 1", boom), other, failing("ann", "A 2", boom)];
  const lines = text({ failing: { total: 55, shown } }).slice(9, -2);
  expect(lines.map((line) => line.replaceAll(/ {2,}/g, " | "))).toEqual([
    "55 libraries fail",
    expect.stringMatching(/^library \|/),
    expect.stringMatching(/^52, such as ann\/A 1 \| 4 .* 500 boom$/),
    expect.stringMatching(/^bo\/B \| 4 .* timeout$/),
    "… and 2 more",
  ]);
  expect(text({ failing: { total: 55, shown } }, 66)).toContainEqual(expect.stringMatching(/^52, .*… +4 /));
});

test("failing libraries are shown with the age of their last good copy, the rest as a number (fault 276)", () => {
  const shown = [
    failing("ann", "Q1/Q2 50% done", { failures: 3, lastError: "not_found: GET … answered 404\u001b[2J" }),
    failing("bo", "Lib", { lastSuccessAt: ago(600), bookmarkSeenAt: ago(600) }),
    failing("cy", "Gone", { removalHeldAt: ago(1) }),
  ];
  expect(text({ failing: { total: 5, shown } }).slice(9)).toEqual([
    "5 libraries fail",
    "library                 in a row  failed     next try    last good copy  error",
    "ann/Q1%2FQ2 50%25 done         3  5 min ago  in 10 min   never           not_found: GET … answered 404\\u001b[2J",
    "bo/Lib                         1  5 min ago  next run    10 h ago        timeout: …",
    "cy/Gone                        1  5 min ago  none: held  never           timeout: …",
    "… and 2 more",
    "",
    "next: simcat explain 'ann/Q1%2FQ2 50%25 done' has the details and says when the library is read again",
  ]);
  const held = failing("cy", "Gone", { failures: 3, removalHeldAt: ago(1) });
  expect(toStatusJson({ ...QUIET, failing: { total: 1, shown: [held] } }).failing).toMatchObject([
    { library: "Gone", next_read_due_at: null },
  ]);
});

test("open rejects are shown by library, kind and code; those of no library lead to check (fault 113)", () => {
  const shown = [
    { owner: null, name: null, kind: "listing", code: "missing_field", count: 1200, firstSeenAt: ago(60) },
    { owner: "bo", name: "Lib", kind: "scenario", code: "wrong_type", count: 1, firstSeenAt: ago(3000) },
  ] as const;
  expect(text({ rejects: { total: 1201, groups: 2, shown: [...shown] } }).slice(9)).toEqual([
    "1,201 open rejects",
    "library  kind      code           rejects  first seen",
    "(none)   listing   missing_field    1,200  1 h ago",
    "bo/Lib   scenario  wrong_type           1  2 d ago",
    "",
    "next: simcat explain bo/Lib shows which items could not be stored, and why",
  ]);
  expect(text({ rejects: { total: 1200, groups: 1, shown: [shown[0]] } }).at(-1)).toBe(
    "next: simcat check shows what is wrong with the listing",
  );
});

test.each([
  ["O'Brien", "a\u001b[31m b", "simcat explain 'O'\\''Brien/a%1B[31m b'"],
  ["-v", "Lib", "simcat explain -- -v/Lib"],
  ["a/b", "\u202e", "simcat explain a%2Fb/%E2%80%AE"],
])("the command for the library %j, %j can be pasted into a shell (fault 113)", (owner, name, command) => {
  expect(text({ failing: { total: 1, shown: [failing(owner, name)] } }).at(-1)).toContain(
    `next: ${command} has the details`,
  );
});

test("if only selected libraries were synced, the next step is a sync of all of them", () => {
  const libraries = { ...QUIET.libraries, neverStored: 2 };
  const runs = [run(12, { scope: { libraries: [], owners: ["ann"] } })];
  expect(text({ runs, lastGoodRun: null, libraries }).slice(0, 2)).toEqual([
    "last good run  none yet",
    "libraries      212 live, 4 removed, 2 listed and never stored",
  ]);
  expect(text({ runs, lastGoodRun: null }).at(-1)).toBe(
    "next: only selected libraries have been synced: run simcat sync for all of them",
  );
});

test("slices do not complete a copy whose last run of all libraries was held or failed (fault 408)", () => {
  const slice = run(14, { scope: { libraries: [], owners: [], slice: "2/2" } });
  const nextAfter = (whole: RunRow, good: RunRow) =>
    text({ runs: [slice, whole], lastGoodRun: good, slices: ["1/2", "2/2"] }).at(-1);
  const held = run(13, { status: "held", error: "5 of 9 would be marked removed" });
  expect(nextAfter(held, held)).toContain("simcat sync --dry-run shows what is still held");
  expect(nextAfter(run(13, { status: "source_unavailable" }), run(12))).toContain("was not good");
});

test("after a slice, the next step is another slice, and after the last one a sync", () => {
  const scope = { libraries: [], owners: [], slice: "3/4" };
  const runs = [run(12, { scope, kind: "backfill" })];
  const slices = ["1/4", "3/4", "2/2"];
  expect(text({ runs, slices })[7]).toContain(" 12  backfill (slice 3/4)  ok");
  expect(text({ runs, slices }).at(-1)).toBe(
    "next: run the other slices (2/4, 4/4), then simcat sync, which completes the copy",
  );
  expect(text({ runs, slices: ["1/4", "2/4", "3/4", "4/4"] }).at(-1)).toBe(
    "next: run simcat sync: every slice was read, and an ordinary run completes the copy",
  );
});

test("while a prune holds the lease, the next step is to wait for it (fault 298)", () => {
  const next = "next: wait for host:42 prune; until it ends, runs end with 75";
  expect(text({ holder: "host:42 prune" }).at(-1)).toBe(next);
  expect(text({ holder: "host:42 prune", runs: [run(12, { status: "held" })] }).at(-1)).toBe(next);
});
