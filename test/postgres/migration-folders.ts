import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** A copy of simcat's migrations with one more; deleted after the test. */
export async function withOneMore(sql: string): Promise<string> {
  const folder = await copyMigrations();
  const file = join(folder, "meta", "_journal.json");
  const journal: { entries: object[] } = JSON.parse(await readFile(file, "utf8"));
  journal.entries.push({ idx: 9999, when: 4_102_444_800_000, tag: "9999_later", version: "7", breakpoints: true });
  await writeFile(file, JSON.stringify(journal));
  await writeFile(join(folder, "9999_later.sql"), sql);
  return folder;
}

/** A copy of simcat's migrations in which views have other texts, as in a later version; null deletes the file. */
export async function withViews(change: Readonly<Record<string, (text: string) => string | null>>): Promise<string> {
  const folder = await copyMigrations();
  await writeFile(join(folder, "meta", "_views.json"), JSON.stringify({ changedAt: 4_102_444_800_000 }));
  for (const [name, edit] of Object.entries(change)) {
    const file = join(folder, "views", `${name}.sql`);
    const text = edit(await readFile(file, "utf8").catch(() => ""));
    await (text === null ? rm(file) : writeFile(file, text));
  }
  return folder;
}

async function copyMigrations(): Promise<string> {
  const folder = temporaryDirectory();
  await cp("migrations", folder, { recursive: true });
  return folder;
}
