import fc from "fast-check";
import { expect, test } from "vitest";
import { connect } from "../../src/db/connect.ts";
import { saveLibraries } from "../../src/db/store/save-libraries.ts";
import type { LibraryContent, Scenario } from "../../src/model.ts";
import { useStoredRows } from "./stored-rows.ts";

const { database, query } = useStoredRows();

const text = fc.constantFrom<string | null>(null, "", " ", "a", "A", "0", "null");
const versions = {
  library: fc.record({
    library_owner: text,
    last_modified: text,
    file_size: text,
    package_name: text,
    package_version: text,
    description: text,
  }),
  scenario: fc.record({
    parent_id: fc.constantFrom(null, 0, 1, -1, 2n ** 60n),
    scenario_name: text,
    is_result: fc.constantFrom(null, true, false),
    last_modified: text,
    description: text,
  }),
};
type LibraryVersion = Readonly<Record<string, string | null>>;
type ScenarioVersion = typeof versions.scenario extends fc.Arbitrary<infer T> ? T : never;

/** Two versions that differ in some fields: a few, because all of them would hide what one of them does. */
const pairOf = <T extends object>(version: fc.Arbitrary<T>) =>
  fc.tuple(version, version, fc.array(fc.nat(5), { maxLength: 2 })).map(([old, other, taken]) => {
    const fields = Object.entries(other).filter((_, at) => taken.includes(at));
    return { old, now: { ...old, ...Object.fromEntries(fields) } };
  });

const toScenario = (id: number, one: ScenarioVersion, extra: number): Scenario => ({
  id,
  parentId: one.parent_id,
  name: one.scenario_name,
  isResult: one.is_result,
  lastModified: one.last_modified,
  description: one.description,
  source: `{"extra":${extra}}`,
});

function toContent(name: string, library: LibraryVersion, scenarios: readonly Scenario[], run: number): LibraryContent {
  const { library_owner = null, file_size = null, last_modified = null, description = null } = library;
  const { package_name: packageName = null, package_version: packageVersion = null } = library;
  const source = `{"extra":${run}}`;
  const fields = { libraryName: name, libraryOwner: library_owner, fileSize: file_size, packageName, packageVersion };
  return {
    listed: { key: { owner: "ann", name }, lastModified: last_modified, source },
    metadata: { ...fields, description, lastModified: null, absent: [], source },
    scenarios: { kind: "memory", scenarios, count: scenarios.length },
    ...{
      rejects: [],
      isPartial: false,
      before: null,
      suspectReads: 0,
    },
    ...{ contentHash: String(run), bookmarkSeenAt: 0, settlesAt: null, contentReadAt: 0, contentAsOf: null },
    isSame: false,
  };
}

async function save(run: number, contents: readonly LibraryContent[]): Promise<void> {
  const pool = await connect(database().url, {}, new AbortController().signal);
  const connection = await pool.connect();
  try {
    await connection.query("BEGIN");
    await saveLibraries(connection, contents, {
      runId: run,
      // Each run reads the same texts in another way, as after a change of SIMCAT_SERVICE_TIMEZONE.
      parsers: {
        microseconds: (text) => (text === null ? null : BigInt(run)),
        bytes: (text) => (text === null ? null : run),
      },
      guard: () => "mark",
    });
    await connection.query("COMMIT");
  } finally {
    connection.release();
    await pool.end();
  }
}

/** The differences as the view changes shows them: it has no parent of 0. */
const changesOf = (old: object, now: object) => {
  const shown = (field: string, value: unknown) =>
    value === null || (field === "parent_id" && value === 0) ? "null" : JSON.stringify(String(value));
  const other = new Map(Object.entries(now));
  return Object.entries(old).flatMap(([field, value]) => {
    const [before, after] = [shown(field, value), shown(field, other.get(field))];
    return before !== after ? [`${field}: ${before} -> ${after}`] : [];
  });
};

test("a version is stored exactly where the view changes shows a difference, each field with both values", async () => {
  const libraries = fc.sample(pairOf(versions.library), 300);
  const parents = [null, 0, 1].flatMap((a) => [null, 0, 1].map((b) => [a, b] as const));
  const plain = { scenario_name: "A", is_result: false, last_modified: null, description: "" };
  const scenarios = [
    ...parents.map(([a, b]) => ({ old: { ...plain, parent_id: a }, now: { ...plain, parent_id: b } })),
    ...fc.sample(pairOf(versions.scenario), 600),
  ];
  const contents = (run: number) =>
    libraries.map(({ old, now }, at) => {
      const list = at > 0 ? [] : scenarios.map((one, id) => toScenario(id, run === 1 ? one.old : one.now, run));
      return toContent(`lib ${at}`, run === 1 ? old : now, list, run);
    });
  await save(1, contents(1));
  await save(2, contents(2));

  const found = await query<{ what: string; changes: string[]; versions: number; run: number; raw: string }>(`
    SELECT v.what, v.run::int AS run, v.raw,
      (SELECT count(*)::int FROM simcat.library_history h WHERE v.what = 'library' AND h.library_name = v.name)
      + (SELECT count(*)::int FROM simcat.scenario_history h WHERE v.what = 'scenario' AND h.scenario_id = v.id) AS versions,
      ARRAY(SELECT concat(c.field, ': ', coalesce(to_json(c.old_value)::text, 'null'), ' -> ', coalesce(to_json(c.new_value)::text, 'null')) FROM simcat_report.changes c
        WHERE c.what = v.what AND c.library_name = v.name AND c.scenario_id IS NOT DISTINCT FROM v.id AND c.kind = 'changed'
        ORDER BY c.field) AS changes
    FROM (SELECT 'library' AS what, library_name AS name, NULL::int8 AS id, run_id AS run, metadata->>'extra' AS raw
          FROM simcat.libraries
          UNION ALL SELECT 'scenario', library_name, scenario_id, run_id, raw->>'extra' FROM simcat.scenarios) AS v
    ORDER BY v.what, v.id, substr(v.name, 5)::int`);

  const expected = (what: string, pairs: readonly { old: object; now: object }[]) =>
    pairs.map(({ old, now }) => {
      const changes = changesOf(old, now).sort();
      const isVersion = changes.length > 0;
      return { what, changes, versions: isVersion ? 1 : 0, run: isVersion ? 2 : 1, raw: "2" };
    });
  expect(found).toEqual([...expected("library", libraries), ...expected("scenario", scenarios)]);
});

test("a parent that turns from none to 0 is stored as sent, in place (fault 37)", async () => {
  const of = (parent_id: number | null) =>
    toScenario(900, { parent_id, scenario_name: "A", is_result: false, last_modified: null, description: null }, 1);
  const rowOf = () => query("SELECT parent_id, run_id, changed_at FROM simcat.scenarios WHERE scenario_id = 900");
  await save(1, [toContent("parents", {}, [of(null)], 1)]);
  const [before] = await rowOf();
  expect(before).toMatchObject({ parent_id: null, run_id: "1" });
  await save(2, [toContent("parents", {}, [of(0)], 2)]);
  expect(await rowOf()).toEqual([{ ...(before ?? {}), parent_id: "0" }]);
  await save(3, [toContent("parents", {}, [of(null)], 3)]);
  expect(await rowOf()).toEqual([before]);
});
