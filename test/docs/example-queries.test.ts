import { beforeAll, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { exampleQueries } from "./schema-doc.ts";

const database = useTestDatabase();

/**
 * Two libraries. "forest" is live; its scenario 1 was renamed at the moment that the example asks for, 2 was removed then,
 * 3 was added then. "lake" was live until then and is removed since. All else happened long before.
 */
const STORED = `
INSERT INTO simcat.sync_runs (kind, trigger, status, finished_at, version) VALUES
  ('sync', 'cli', 'ok', now(), '1'), ('sync', 'cli', 'interrupted', now(), '1');
INSERT INTO simcat.libraries (owner, library_name, first_seen_at, changed_at, removed_at, run_id) VALUES
  ('ann', 'forest', '2026-01-01Z', '2026-01-01Z', NULL, 1),
  ('ann', 'lake', '2026-01-01Z', '2026-03-01Z', '2026-03-01Z', 2);
INSERT INTO simcat.library_history
  (owner, library_name, first_seen_at, changed_at, run_id, valid_from, valid_to, superseded_by) VALUES
  ('ann', 'lake', '2026-01-01Z', '2026-01-01Z', 1, '2026-01-01Z', '2026-03-01Z', 2);
INSERT INTO simcat.scenarios
  (owner, library_name, scenario_id, scenario_name, is_result, raw, first_seen_at, changed_at, removed_at, run_id) VALUES
  ('ann', 'forest', 1, 'after', false, '{}', '2026-01-01Z', '2026-03-01Z', NULL, 2),
  ('ann', 'forest', 2, 'gone', true, '{}', '2026-01-01Z', '2026-03-01Z', '2026-03-01Z', 2),
  ('ann', 'forest', 3, 'came', true, '{}', '2026-03-01Z', '2026-03-01Z', NULL, 2),
  ('ann', 'lake', 1, 'of the lake', false, '{}', '2026-01-01Z', '2026-01-01Z', NULL, 1);
INSERT INTO simcat.scenario_history (owner, library_name, scenario_id, scenario_name, is_result, raw, first_seen_at,
  changed_at, run_id, valid_from, valid_to, superseded_by) VALUES
  ('ann', 'forest', 1, 'before', false, '{}', '2026-01-01Z', '2026-01-01Z', 1, '2026-01-01Z', '2026-03-01Z', 2),
  ('ann', 'forest', 2, 'gone', true, '{}', '2026-01-01Z', '2026-01-01Z', 1, '2026-01-01Z', '2026-03-01Z', 2);
INSERT INTO simcat.library_sync (owner, library_name, failures, reread_reason, last_error) VALUES
  ('ann', 'forest', 0, NULL, NULL), ('ann', 'new', 2, 'failure', 'not_found: answered 404');
INSERT INTO simcat.rejects (run_id, owner, library_name, kind, code, path, reason, payload, fingerprint, first_seen_at,
  last_seen_at, resolved_at) VALUES
  (2, 'ann', 'new', 'listing', 'wrong_type', 'lastModified', '…', '{}', 'a', now(), now(), NULL),
  (2, 'ann', 'new', 'listing', 'wrong_type', 'lastModified', '…', '{}', 'b', now(), now(), now());`;

beforeAll(async () => {
  await database().query(STORED);
});

function ask(title: string, edit: (sql: string) => string = (sql) => sql): Promise<Record<string, unknown>[]> {
  const found = exampleQueries().find((query) => query.title === title);
  if (found === undefined) throw new Error(`docs/schema.md has no query "${title}"`);
  return database().query(edit(found.sql));
}

test("what is there now leaves out removed libraries and removed scenarios", async () => {
  expect(await ask("What is there now")).toEqual([
    {
      owner: "ann",
      library_name: "forest",
      last_modified_at: null,
      file_size_bytes: null,
      scenarios: "2",
      results: "1",
    },
  ]);
});

test("what was there then shows a version at its first moment", async () => {
  const rows = await ask("What was there then");
  expect(rows.map((row) => `${row.library_name} ${row.scenario_id} ${row.scenario_name}`)).toEqual([
    "forest 1 after",
    "forest 3 came",
  ]);
});

test("what was there then shows the version before at the last moment before", async () => {
  const rows = await ask("What was there then", (sql) =>
    sql.replace("2026-03-01 00:00:00+00", "2026-02-28 23:59:59.999999+00"),
  );
  expect(rows.map((row) => `${row.library_name} ${row.scenario_id} ${row.scenario_name}`)).toEqual([
    "forest 1 before",
    "forest 2 gone",
    "lake 1 of the lake",
  ]);
});

test("the query for changes distinguishes new, changed and removed, including the moment itself", async () => {
  const since = (moment: string) => (sql: string) =>
    sql.replace("now() - interval '7 days'", `timestamptz '${moment}'`);
  const rows = await ask("What changed since", since("2026-03-01Z"));
  expect(rows.map((row) => `${row.what} ${row.name} ${row.how}`)).toEqual([
    "scenario after changed",
    "scenario gone gone",
    "scenario came new",
    "library lake gone",
  ]);
  expect(await ask("What changed since", since("2026-03-01 00:00:00.000001Z"))).toEqual([]);
});

test("which libraries fail has one that was never stored, with its open rejects", async () => {
  const rows = await ask("Which libraries fail");
  expect(
    rows.map((row) => [row.library_name, row.failures, row.reread_reason, row.last_error, row.open_rejects]),
  ).toEqual([["new", 2, "failure", "not_found: answered 404", "1"]]);
});

test("the query for freshness ignores unfinished runs", async () => {
  expect(await ask("How fresh it is")).toMatchObject([{ id: "1", kind: "sync", status: "ok" }]);
});
