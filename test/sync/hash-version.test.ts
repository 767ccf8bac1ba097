import { expect, test } from "vitest";
import { hashVersion } from "../../src/sync/read-libraries.ts";

/** Some stored fields. */
const FIELDS = [
  "libraries.description text",
  "libraries.file_size text",
  "libraries.file_size_bytes int8",
  "libraries.last_modified text",
  "libraries.last_modified_at timestamptz",
  "libraries.library_name text",
  "libraries.library_owner text",
  "libraries.listed jsonb",
  "libraries.metadata jsonb",
  "libraries.owner text",
  "libraries.package_name text",
  "libraries.package_version text",
  "scenarios.description text",
  "scenarios.is_result bool",
  "scenarios.last_modified text",
  "scenarios.last_modified_at timestamptz",
  "scenarios.parent_id int8",
  "scenarios.raw jsonb",
  "scenarios.scenario_id int8",
  "scenarios.scenario_name text",
];

test("a new field, a removed one and another type each change the version", () => {
  const [first = "", ...others] = FIELDS;
  const versions = [[...FIELDS, "libraries.project_name text"], others, [`${first}[]`, ...others]].map(hashVersion);
  expect(versions).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
  expect(new Set(versions).size).toBe(3);
});
