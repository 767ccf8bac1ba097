import { expect, test } from "vitest";
import { statement } from "../../src/db/statement.ts";

test("named parameters are numbered in the order of their first use", () => {
  const bind = statement("SELECT $id::int8 WHERE $owner = $library_owner OR $id = 2");
  expect(bind({ owner: "ann", library_owner: "Lab", id: 7, unused: true })).toEqual({
    text: "SELECT $1::int8 WHERE $2 = $3 OR $1 = 2",
    values: [7, "ann", "Lab"],
  });
});

test("a parameter may be null but not missing", () => {
  const bind = statement("SELECT $since::float8");
  expect(bind({ since: null }).values).toEqual([null]);
  expect(() => bind({})).toThrow("the statement's parameter $since has no value");
});
