import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { JSON_SCHEMAS } from "../support/json-schemas.ts";

const names = new Set<string>();

/** Without zod's patterns of dates and limits of integers, which nobody could read. */
const toJsonSchema = (schema: z.ZodType) =>
  z.toJSONSchema(schema, {
    override({ jsonSchema }) {
      for (const name of Object.keys(jsonSchema.properties ?? {})) names.add(name);
      delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });

test.each(Object.entries(JSON_SCHEMAS))("schemas/%s.json is the schema that the tests use", async (name, schema) => {
  const text = JSON.stringify(toJsonSchema(schema), null, 2);
  await expect(`${text}\n`).toMatchFileSnapshot(`../../schemas/${name}.json`);
});

test("each schema is published, and every name in it is snake_case", () => {
  const files = Object.keys(JSON_SCHEMAS).map((name) => `${name}.json`);
  expect(readdirSync("schemas").sort()).toEqual(files.sort());
  expect(names).toContain("last_good_run");
  expect([...names].filter((name) => !/^[a-z0-9_]+$/.test(name))).toEqual([]);
});
