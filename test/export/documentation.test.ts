import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callCli } from "../support/call-cli.ts";
import { useTestDatabase } from "../support/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { duckdb } from "./read-files.ts";

const DOC = readFileSync("docs/export.md", "utf8");
const database = useTestDatabase();

test("docs/export.md has each option of the command, and no other", async () => {
  const { stdout } = await callCli(["export", "--help"], {});
  const [help = ""] = stdout.split("Global Options:");
  const options = [...help.matchAll(/^ {2}(?:-h, )?(--[a-z-]+)/gm)].map(([, option]) => option);
  const documented = [...DOC.matchAll(/^\| `(--[a-z-]+)/gm)].map(([, option]) => option);
  expect([...documented, "--help"].sort()).toEqual(options.toSorted());
});

test("docs/export.md has the option with which DuckDB tells an empty text in CSV from NULL", async () => {
  const [, option = ""] = /DuckDB needs `([^`]+)`/.exec(DOC) ?? [];
  const file = join(temporaryDirectory(), "texts.csv");
  writeFileSync(file, 'a,b,c\r\nx,,""\r\n');
  const texts = (from: string) => duckdb(`SELECT b, c FROM ${from}`);
  expect(await texts(`'${file}'`)).toEqual([[null, null]]);
  expect(await texts(`read_csv('${file}', ${option})`)).toEqual([[null, ""]]);
});

test("docs/export.md has the type of each column of the views", async () => {
  const types = await database().query<{ type: string }>(
    `SELECT DISTINCT a.atttypid::regtype::text AS type FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'simcat_report'::regnamespace AND a.attnum > 0`,
  );
  const documented = [...DOC.matchAll(/^\| `([a-z ]+)` \|/gm)].map(([, type]) => type);
  const names = types.map(({ type }) => (type === "timestamp with time zone" ? "timestamptz" : type));
  expect(names.filter((name) => !documented.includes(name))).toEqual([]);
});

test("the time by which --since filters is documented, and a column of its view", async () => {
  const [text = ""] = /^`--since` compares [\s\S]*?\.\n/m.exec(DOC) ?? [];
  const documented = text.split(";").flatMap((part) => {
    const [column, ...views] = [...part.replace("`--since`", "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name);
    return views.map((view) => `${view}.${column}`);
  });
  const views = await database().query<{ name: string; columns: string[] }>(
    `SELECT c.relname AS name, array_agg(a.attname::text) AS columns FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relnamespace = 'simcat_report'::regnamespace AND c.relkind = 'v' AND a.attnum > 0 GROUP BY 1`,
  );
  const existing = views.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`));
  expect(documented.filter((name) => !existing.includes(name))).toEqual([]);

  const args = ["export", ...views.map(({ name }) => name), "--since", "2026-01-01"];
  const { code, stderr } = await callCli(args, { DATABASE_URL: database().url, SIMCAT_LOG_FORMAT: "pretty" });
  expect(code).toBe(64);
  const [, filtered = ""] = /; it applies to (.*?);/.exec(stderr) ?? [];
  expect(documented.map((name) => name.split(".")[0]).sort()).toEqual(filtered.split(", "));
});
