import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows } from "./stored-rows.ts";

const DIRECTORY = "examples/queries";
const files = readdirSync(DIRECTORY).sort();
const read = (file: string) => readFileSync(`${DIRECTORY}/${file}`, "utf8");

const database = useTestDatabase();

const HOUR = 3_600_000;
const now = Date.now();
/** Half an hour more, so that no query's clock hits a boundary. */
const ago = (days: number) => new Date(now - days * 24 * HOUR - HOUR / 2);

/**
 * Ann's "forest" is stored for 40 days: 1 has the results 2 and 3, 4 was never run, 5's parent is missing, 6 was removed
 * 10 days ago; 4 was renamed and the package upgraded 3 days ago. Bob's "lake" was removed 2 days ago, when his "pond" was
 * added, which has failed since yesterday.
 */
beforeAll(async () => {
  const forest = {
    library_name: "forest",
    package_name: "stsim",
    last_modified: "a while ago",
    last_modified_at: ago(100),
    file_size: "4 KB",
    file_size_bytes: 4096,
    first_seen_at: ago(40),
  };
  const lake = {
    owner: "bob",
    library_name: "lake",
    package_name: "stsim",
    package_version: "9.9.9",
    file_size_bytes: 1024,
    last_modified: "2025",
    last_modified_at: ago(60),
    first_seen_at: ago(40),
  };
  const pond = { owner: "bob", library_name: "pond", package_name: "stsim", first_seen_at: ago(2), changed_at: ago(2) };
  await addRows(database(), "libraries", [
    { ...forest, package_version: "10.0.0", changed_at: ago(3), run_id: 2 },
    { ...lake, changed_at: ago(2), removed_at: ago(2), run_id: 3 },
    { ...pond, package_version: "9.9.9", last_modified: "soon", file_size: "large", run_id: 3 },
  ]);
  await addRows(database(), "library_history", [
    { ...forest, package_version: "9.9.9", valid_from: ago(40), valid_to: ago(3), superseded_by: 2 },
    { ...lake, valid_from: ago(40), valid_to: ago(2), superseded_by: 3 },
  ]);
  const scenario = (scenario_id: number, scenario_name: string, rest: object) => ({
    scenario_id,
    scenario_name,
    first_seen_at: ago(40),
    changed_at: ago(40),
    ...rest,
  });
  const gone = scenario(6, "Old", { is_result: false });
  const plan = { is_result: false, last_modified_at: ago(50) };
  await addRows(database(), "scenarios", [
    scenario(1, "Burn", { is_result: false }),
    scenario(2, "Burn, first", { is_result: true, parent_id: 1, last_modified_at: ago(80) }),
    scenario(3, "Burn, second", { is_result: true, parent_id: 1, last_modified_at: ago(70) }),
    scenario(4, "Plan B", { ...plan, changed_at: ago(3), run_id: 2 }),
    scenario(5, "Stray", { is_result: true, parent_id: 99, last_modified_at: ago(90) }),
    { ...gone, changed_at: ago(10), removed_at: ago(10), run_id: 2 },
    { ...scenario(1, "Rain", { is_result: false }), owner: "bob", library_name: "lake" },
  ]);
  await addRows(database(), "scenario_history", [
    { ...scenario(4, "Plan A", plan), valid_from: ago(40), valid_to: ago(3), superseded_by: 2 },
    { ...gone, valid_from: ago(40), valid_to: ago(10), superseded_by: 2 },
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
  await addRows(database(), "sync_runs", [
    run(1, 40, { kind: "backfill", libraries_read: 2, libraries_changed: 2, scenarios_inserted: 7 }),
    run(2, 3, { libraries_changed: 1, scenarios_updated: 1 }),
    run(3, 2, { libraries_changed: 1, libraries_removed: 1 }),
    run(4, 1, { status: "partial", libraries_read: 0, libraries_failed: 1, error: "1 library failed" }),
  ]);
  const sync = {
    listed_text: "x",
    bookmark: "x",
    bookmark_seen_at: ago(40),
    settles_at: ago(39),
    content_read_at: ago(3),
    last_success_at: ago(3),
  };
  await addRows(database(), "library_sync", [
    { ...sync, library_name: "forest" },
    {
      ...sync,
      owner: "bob",
      library_name: "pond",
      content_read_at: ago(2),
      last_success_at: ago(2),
      reread_reason: "failure",
      failures: 1,
      last_error: "not_found: answered 404",
      last_failed_at: ago(1),
    },
  ]);
});

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

const ANSWERS: Readonly<Record<string, () => readonly string[]>> = {
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
    "2 days ago | removed | library | bob | lake | null | lake | null | null | null",
    "2 days ago | added | library | bob | pond | null | pond | null | null | null",
    "3 days ago | changed | library | ann | forest | null | forest | package_version | 9.9.9 | 10.0.0",
    "3 days ago | changed | scenario | ann | forest | 4 | Plan B | scenario_name | Plan A | Plan B",
  ],
  "changes-by-day.sql": () => [
    `${date(2)} | library | 1 | 0 | 1 | 0`,
    `${date(3)} | library | 0 | 1 | 0 | 0`,
    `${date(3)} | scenario | 0 | 1 | 0 | 0`,
    `${date(10)} | scenario | 0 | 0 | 1 | 0`,
  ],
  "vanished.sql": () => [
    "2 days ago | library | bob | lake | null | lake | 60 days ago",
    "10 days ago | scenario | ann | forest | 6 | Old | null",
  ],
  "how-fresh.sql": () => ["2 days ago | 48 | 1 days ago | partial | 1 | bob | pond"],
  "failing-libraries.sql": () => ["bob | pond | 1 | failure | not_found: answered 404 | 0 | 2 days ago | 48"],
  "growth.sql": () => [
    "5 | 2 | 7 | 5120",
    "4 | 2 | 7 | 5120",
    "3 | 2 | 7 | 5120",
    "2 | 2 | 7 | 5120",
    "1 | 2 | 6 | 5120",
    "0 | 2 | 5 | 4096",
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
  "last-runs.sql": () => [
    "4 | sync | partial | 1 days ago | 90.5 | 2 listed, 0 read, 0 changed, 0 removed, 1 failed; scenarios +0 ~0 -0 | 1 library failed",
    "3 | sync | ok | 2 days ago | 90.5 | 2 listed, 1 read, 1 changed, 1 removed, 0 failed; scenarios +0 ~0 -0 | null",
    "2 | sync | ok | 3 days ago | 90.5 | 2 listed, 1 read, 1 changed, 0 removed, 0 failed; scenarios +0 ~1 -0 | null",
    "1 | backfill | ok | 40 days ago | 90.5 | 2 listed, 2 read, 2 changed, 0 removed, 0 failed; scenarios +7 ~0 -0 | null",
  ],
};

test("every example has an answer here", () => {
  expect(files).toEqual(Object.keys(ANSWERS).sort());
});

test.each(files)("%s asks a question in its first line and uses only the report's views", (file) => {
  const [first = "", ...rest] = read(file).split("\n");
  expect(first).toMatch(/^-- [A-Z].*\?$/);
  expect(rest.join("\n")).toContain("simcat_report.");
  expect(rest.join("\n")).not.toMatch(/\bsimcat\./);
});

test.each(files)("%s answers it", async (file) => {
  const rows = await database().query<Record<string, unknown>>(
    // pg returns a date as local midnight; as text it equals the query's result. A slow test may take minutes, not hours.
    read(file).replace("::date AS day", "::date::text AS day").replace("FROM age) / 60)", "FROM age) / 3600)"),
  );
  expect(plain(rows)).toEqual(ANSWERS[file]?.());
});
