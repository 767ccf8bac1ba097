import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

interface Journal {
  readonly entries: { idx: number; when: number; tag: string; version: string; breakpoints: boolean }[];
}

/** A copy of simcat's migrations with one more; deleted after the test. */
export async function withOneMore(sql: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "simcat-migrations-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp("migrations", folder, { recursive: true });
  const journal = await readJournal();
  journal.entries.push({ idx: 9999, when: 4_102_444_800_000, tag: "9999_later", version: "7", breakpoints: true });
  await writeFile(join(folder, "meta", "_journal.json"), JSON.stringify(journal));
  await writeFile(join(folder, "9999_later.sql"), sql);
  return folder;
}

/** The statements of the first migrations, and the rows of the journal that record them. */
export async function firstMigrations(count: number): Promise<{ statements: string[]; journaled: number[] }> {
  const { entries } = await readJournal();
  const first = entries.slice(0, count);
  const files = await Promise.all(first.map(({ tag }) => readFile(`migrations/${tag}.sql`, "utf8")));
  return {
    statements: files.flatMap((text) => text.split("--> statement-breakpoint")),
    journaled: first.map(({ when }) => when),
  };
}

async function readJournal(): Promise<Journal> {
  return JSON.parse(await readFile("migrations/meta/_journal.json", "utf8"));
}
