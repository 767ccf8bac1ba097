import { expect, test } from "vitest";
import { hashVersion } from "../../src/sync/copy-libraries.ts";

const FIELDS = ["libraries.description text", "libraries.metadata jsonb", "scenarios.parent_id int8"];

test("a new field, a removed one and another type each change the version", () => {
  const [first = "", ...others] = FIELDS;
  const versions = [[...FIELDS, "libraries.project_name text"], others, [`${first}[]`, ...others]].map(hashVersion);
  expect(versions).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
  expect(new Set(versions).size).toBe(3);
});
