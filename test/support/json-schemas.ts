import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

const FOLDER = new URL("../../schemas/", import.meta.url);

/** A moment in UTC, as `toISOString` writes it. */
const isMoment = (text: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text) && !Number.isNaN(Date.parse(text));

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, formats: { "date-time": isMoment } });

/** The published schemas, by their names: what commands print with `--json`, and what /readyz answers. */
export const JSON_SCHEMAS = new Map(
  readdirSync(FOLDER).map((file) => [
    basename(file, ".json"),
    JSON.parse(readFileSync(new URL(file, FOLDER), "utf8")) as Readonly<Record<string, unknown>>,
  ]),
);
for (const [name, schema] of JSON_SCHEMAS) ajv.addSchema(schema, name);

/** The name of the schema of what a command line prints with `--json`; rows have none: the question names their columns. */
function schemaOf(args: readonly string[]): string | undefined {
  const [command = ""] = args.filter((word) => !word.startsWith("-"));
  const isPlan = command === "sync" && (args.includes("--dry-run") || args.includes("-n"));
  const name = isPlan ? "plan" : command === "sync" || command === "backfill" ? "run" : command;
  return args.includes("--json") && JSON_SCHEMAS.has(name) ? name : undefined;
}

/** @throws if the value is not as this schema says */
export function assertSchema(name: string, value: unknown): void {
  if (!ajv.validate(name, value)) throw new Error(`not as schemas/${name}.json says: ${ajv.errorsText()}`);
}

/** @throws if a command printed something else than its schema says */
export function assertJson(args: readonly string[], stdout: string): void {
  const name = schemaOf(args);
  if (name !== undefined && stdout !== "") assertSchema(name, JSON.parse(stdout));
}
