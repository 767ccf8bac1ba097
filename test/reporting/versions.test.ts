import { beforeEach, expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { addRows, day, emptyTables } from "./stored-rows.ts";

const database = useTestDatabase();

beforeEach(async () => {
  await emptyTables(database());
});

test("versions sort part by part as numbers, and words before numbers", async () => {
  const ascending = [
    "beta",
    "0.0.1",
    "1.0.0-alpha",
    "1.0.0-beta",
    "1.0.0",
    "1.0.0.1",
    "1.0.1",
    "1.0.9",
    "1.0.10",
    "1.2.x",
    "1.2.0",
    "9.9.9",
    "10.0.0",
    "2024.1",
    "99999999999999999999999999.0.0",
  ];
  const rows = await database().query<{ version: string }>(
    "SELECT version FROM unnest($1::text[]) AS version ORDER BY simcat_report.version_order(version)",
    [ascending.toReversed()],
  );
  expect(rows.map((row) => row.version)).toEqual(ascending);
});

test.each([
  ["2.1", "2.1.0"],
  ["2.1.0", "2.1.0.0"],
  ["02.1", "2.01.0"],
  ["v2.1", "2.1"],
  [" 2.1 ", "2.1"],
  ["\t2.1\n", "2.1"],
  ["2.1+build.7", "2.1"],
])("%j and %j are the same version", async (a, b) => {
  const [row] = await database().query(
    "SELECT simcat_report.version_order($1) = simcat_report.version_order($2) AS same",
    [a, b],
  );
  expect(row).toEqual({ same: true });
});

test.each(["", " ", "\t\n", "+", "+7"])("%j is no version", async (version) => {
  const [row] = await database().query("SELECT simcat_report.version_order($1) AS place", [version]);
  expect(row).toEqual({ place: null });
});

test.each([".", "..", "1..2", "v", "🌲.1", "a\\b.\\x41", "1.0.0+build\u0001", "1.".repeat(500), "9".repeat(20_000)])(
  "a version like %j is no error",
  async (version) => {
    await database().query("SELECT simcat_report.version_order($1)", [version]);
  },
);

test("package_versions counts the newer versions of a package in use", async () => {
  const use = (packageName: string | null, version: string | null, owner = "ann") => ({
    owner,
    package_name: packageName,
    package_version: version,
  });
  await addRows(
    database(),
    "libraries",
    [
      use("stsim", "9.9.9"),
      use("stsim", "9.9.9", "bob"),
      use("stsim", "9.9.9"),
      use("stsim", "10.0.0"),
      use("stsim", "10.0.0.0"),
      use("stsim", "4.0.0"),
      use("stsim", null),
      use("other", "1.0"),
      use(null, "1.0"),
      use(null, null),
      use("blank", " "),
      use("blank", ""),
      { ...use("stsim", "99.0.0"), removed_at: day(2), changed_at: day(2) },
    ].map((row, at) => ({ ...row, library_name: `library ${at}` })),
  );
  const rows = await database().query(
    "SELECT * FROM simcat_report.package_versions ORDER BY package_name, versions_behind, package_version",
  );
  const row = (
    name: string | null,
    version: string | null,
    libraries: number,
    owners: number,
    newest: string | null,
    behind: number | null,
  ) => ({
    package_name: name,
    package_version: version,
    libraries: String(libraries),
    owners: String(owners),
    newest_version: newest,
    versions_behind: behind === null ? null : String(behind),
    is_newest: behind === null ? null : behind === 0,
  });
  expect(rows).toEqual([
    row("blank", "", 1, 1, null, null),
    row("blank", " ", 1, 1, null, null),
    row("other", "1.0", 1, 1, "1.0", 0),
    row("stsim", "10.0.0", 1, 1, "10.0.0.0", 0),
    row("stsim", "10.0.0.0", 1, 1, "10.0.0.0", 0),
    row("stsim", "9.9.9", 3, 2, "10.0.0.0", 1),
    row("stsim", "4.0.0", 1, 1, "10.0.0.0", 2),
    row("stsim", null, 1, 1, "10.0.0.0", null),
    row(null, "1.0", 1, 1, null, null),
    row(null, null, 1, 1, null, null),
  ]);
});
