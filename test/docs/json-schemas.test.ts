import { expect, test } from "vitest";
import { JSON_SCHEMAS } from "../support/json-schemas.ts";

const COMMANDS = "check db explain export libraries migrate plan prune report run status verify".split(" ");

/** The objects within a schema that list their properties. */
function objectsIn(schema: unknown): { properties: object; required?: string[]; additionalProperties?: unknown }[] {
  if (typeof schema !== "object" || schema === null) return [];
  const within = Object.values(schema).flatMap(objectsIn);
  return "properties" in schema && "type" in schema ? [schema as never, ...within] : within;
}

test("there is a schema for the JSON of each command and for /readyz", () => {
  expect([...JSON_SCHEMAS.keys()].sort()).toEqual([...COMMANDS, "ready"].sort());
});

test.each([...JSON_SCHEMAS])("schemas/%s.json allows no other names than its own, all in snake_case", (_, schema) => {
  const objects = objectsIn(schema);
  const names = objects.flatMap(({ properties }) => Object.keys(properties));
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !/^[a-z0-9_]+$/.test(name))).toEqual([]);
  expect(objects.filter(({ additionalProperties }) => additionalProperties !== false)).toEqual([]);
});
