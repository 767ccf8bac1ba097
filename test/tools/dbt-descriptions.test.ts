import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { type CommentedView, describeSources, describeStaging, FOLDER } from "./describe-columns.ts";

const database = useTestDatabase();

const readViews = () =>
  database().query<CommentedView>(
    `SELECT c.relname AS name, obj_description(c.oid, 'pg_class') AS comment,
       (SELECT json_agg(json_build_object('name', a.attname, 'comment', col_description(c.oid, a.attnum)) ORDER BY a.attnum)
        FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
     FROM pg_class c WHERE c.relnamespace = 'simcat_report'::regnamespace AND c.relkind = 'v' ORDER BY c.relname`,
  );

// `npm run docs:dbt` writes the two files.
test.each([
  { file: "sources.yml", write: describeSources },
  { file: "staging.yml", write: describeStaging },
])("$file of the dbt package describes each column as the database does", async ({ file, write }) => {
  const path = join(FOLDER, "models/staging", file);
  const written = write(readFileSync(path, "utf8"), await readViews());
  await expect(written).toMatchFileSnapshot(path);
});
