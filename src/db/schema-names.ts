/**
 * The schemas of one organization's copy. Catalogue queries take them as a value. Tables and views are still named in
 * schema.ts, in the migrations and in the SQL texts of store/, read/ and prune/.
 */
export interface SchemaNames {
  readonly tables: string;
  /** drizzle's journal of migrations. Its own schema, so that dropping the tables is noticed. */
  readonly journal: string;
  /** The views and functions for people and BI tools. */
  readonly views: string;
}

export const SCHEMAS: SchemaNames = { tables: "simcat", journal: "simcat_migrations", views: "simcat_report" };
