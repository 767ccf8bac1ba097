/**
 * The stored fields of libraries and scenarios: of each the column, whether a changed value makes a version, and where the value
 * comes from. Derived from them: the tables and their history, the staging table, the statements that store the rows, the columns
 * that `verify` compares, and the version of the content hash.
 */
import { bigint, boolean, customType, jsonb, type PgColumnBuilderBase, text, timestamp } from "drizzle-orm/pg-core";
import type { ListedLibrary, Metadata, Scenario } from "../model.ts";
import type { TextParsers } from "../parse-values.ts";

/** The two answers of the service that describe a library. `metadata` is null if the object was rejected. */
export interface LibraryAnswers {
  readonly listed: ListedLibrary;
  readonly metadata: Metadata | null;
}

export interface ContentField<Item> {
  readonly column: PgColumnBuilderBase;
  /** A changed value either begins a new version of the row or is written in place. */
  readonly change: "key" | "version" | "in place";
  readonly origin: "listing" | "metadata" | "scenario";
  /** Null and undefined store NULL. Values of timestamptz columns are microseconds, values of jsonb columns are JSON texts. */
  readonly value: (item: Item, parsers: TextParsers) => unknown;
  /** The service sends 0 for none: a change between 0 and NULL is written in place. */
  readonly zeroIsNull?: true;
}

/** Keys compare byte for byte, whatever the database's collation, and survive an upgrade of the C library. */
export const keyColumn = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });
export const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 6, mode: "date" });
const exactInteger = (name: string) => bigint(name, { mode: "bigint" });

/** Declares where the fields of one object come from. */
const fieldsOf =
  <Item, Origin extends ContentField<Item>["origin"]>(origin: Origin) =>
  <Column extends PgColumnBuilderBase>(
    change: ContentField<Item>["change"],
    column: Column,
    value: ContentField<Item>["value"],
    options: Pick<ContentField<Item>, "zeroIsNull"> = {},
  ) => ({ origin, change, column, value, ...options });

const fromListing = fieldsOf<LibraryAnswers, "listing">("listing");
const fromMetadata = fieldsOf<LibraryAnswers, "metadata">("metadata");
const fromScenario = fieldsOf<Scenario, "scenario">("scenario");

/** The names are those of the service, except for values that simcat derives. */
export const libraryFields = {
  owner: fromListing("key", keyColumn("owner").notNull(), ({ listed }) => listed.key.owner),
  libraryName: fromListing("key", keyColumn("library_name").notNull(), ({ listed }) => listed.key.name),
  libraryOwner: fromMetadata("version", text("library_owner"), ({ metadata }) => metadata?.libraryOwner),
  lastModified: fromListing("version", text("last_modified"), ({ listed }) => listed.lastModified),
  lastModifiedAt: fromListing("in place", instant("last_modified_at"), ({ listed }, parsers) =>
    parsers.microseconds(listed.lastModified),
  ),
  fileSize: fromMetadata("version", text("file_size"), ({ metadata }) => metadata?.fileSize),
  fileSizeBytes: fromMetadata("in place", bigint("file_size_bytes", { mode: "number" }), ({ metadata }, parsers) =>
    parsers.bytes(metadata?.fileSize ?? null),
  ),
  packageName: fromMetadata("version", text("package_name"), ({ metadata }) => metadata?.packageName),
  packageVersion: fromMetadata("version", text("package_version"), ({ metadata }) => metadata?.packageVersion),
  description: fromMetadata("version", text("description"), ({ metadata }) => metadata?.description),
  listed: fromListing("in place", jsonb("listed"), ({ listed }) => listed.source),
  metadata: fromMetadata("in place", jsonb("metadata"), ({ metadata }) => metadata?.source),
} satisfies Readonly<Record<string, ContentField<LibraryAnswers>>>;

const ZERO_IS_NULL = { zeroIsNull: true } as const;

export const scenarioFields = {
  scenarioId: fromScenario("key", exactInteger("scenario_id").notNull(), (scenario) => scenario.id),
  parentId: fromScenario("version", exactInteger("parent_id"), (scenario) => scenario.parentId, ZERO_IS_NULL),
  scenarioName: fromScenario("version", text("scenario_name"), (scenario) => scenario.name),
  isResult: fromScenario("version", boolean("is_result"), (scenario) => scenario.isResult),
  lastModified: fromScenario("version", text("last_modified"), (scenario) => scenario.lastModified),
  lastModifiedAt: fromScenario("in place", instant("last_modified_at"), (scenario, parsers) =>
    parsers.microseconds(scenario.lastModified),
  ),
  description: fromScenario("version", text("description"), (scenario) => scenario.description),
  raw: fromScenario("in place", jsonb("raw").notNull(), (scenario) => scenario.source),
} satisfies Readonly<Record<string, ContentField<Scenario>>>;

/** The columns of these fields as a drizzle table takes them. */
export function columnsOf<Fields extends Readonly<Record<string, { readonly column: PgColumnBuilderBase }>>>(
  fields: Fields,
): { [Name in keyof Fields]: Fields[Name]["column"] } {
  const columns = Object.entries(fields).map(([name, { column }]) => [name, column]);
  return Object.fromEntries(columns);
}
