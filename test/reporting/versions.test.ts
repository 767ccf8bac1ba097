import { expect, test } from "vitest";
import { day, useStoredRows } from "./stored-rows.ts";

const { add, query, queryLists } = useStoredRows();

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
  const rows = await query<{ version: string }>(
    "SELECT version FROM unnest($1::text[]) AS version ORDER BY simcat_report.version_order(version)",
    [ascending.toReversed()],
  );
  expect(rows.map((row) => row.version)).toEqual(ascending);
});

test("versions that differ only in zeros, blanks, a v or a build are the same, and blank ones are none", async () => {
  const same = ["2.1", "2.1.0", "2.1.0.0", "02.1", "2.01.0", "v2.1", " 2.1 ", "\t2.1\n", "2.1+build.7"];
  const none = ["", " ", "\t\n", "+", "+7"];
  const rows = await query<{ version: string; is: string | null }>(
    `SELECT version, simcat_report.version_order(version) = simcat_report.version_order('2.1') AS is
     FROM unnest($1::text[]) AS version`,
    [[...same, ...none]],
  );
  expect(rows).toEqual([
    ...same.map((version) => ({ version, is: true })),
    ...none.map((version) => ({ version, is: null })),
  ]);
});

test.each([".", "..", "1..2", "v", "🌲.1", "a\\b.\\x41", "1.0.0+build\u0001", "1.".repeat(500), "9".repeat(20_000)])(
  "a version like %j is no error",
  async (version) => {
    await query("SELECT simcat_report.version_order($1)", [version]);
  },
);

test("package_versions counts the newer versions of a package in use", async () => {
  const use = (packageName: string | null, version: string | null, owner = "ann") => ({
    owner,
    package_name: packageName,
    package_version: version,
  });
  const used = [
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
  ];
  await add({ libraries: used.map((row, at) => ({ ...row, library_name: `library ${at}` })) });
  const rows = await queryLists(
    `SELECT package_name, package_version, libraries::int, owners::int, newest_version, versions_behind::int, is_newest
     FROM simcat_report.package_versions ORDER BY package_name, versions_behind, package_version`,
  );
  expect(rows).toEqual([
    ["blank", "", 1, 1, null, null, null],
    ["blank", " ", 1, 1, null, null, null],
    ["other", "1.0", 1, 1, "1.0", 0, true],
    ["stsim", "10.0.0", 1, 1, "10.0.0.0", 0, true],
    ["stsim", "10.0.0.0", 1, 1, "10.0.0.0", 0, true],
    ["stsim", "9.9.9", 3, 2, "10.0.0.0", 1, false],
    ["stsim", "4.0.0", 1, 1, "10.0.0.0", 2, false],
    ["stsim", null, 1, 1, "10.0.0.0", null, null],
    [null, "1.0", 1, 1, null, null, null],
    [null, null, 1, 1, null, null, null],
  ]);
});
