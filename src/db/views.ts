import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A file of migrations/views: it creates or replaces the view or function of its name, with its comments. */
export interface ViewFile {
  readonly name: string;
  /** For messages, such as `view simcat_report.libraries`. */
  readonly label: string;
  readonly sql: string;
  readonly hash: string;
}

/** All views and functions of schema `simcat_report`, and the comment of the schema itself. */
export interface Views {
  /** Ordered so that each one uses only earlier ones. */
  readonly files: readonly ViewFile[];
  /** When the files were last changed, as Unix time in milliseconds: a later version of simcat has a greater one. */
  readonly changedAt: number;
}

/** The hashes of the applied files by name. */
export type ViewHashes = Readonly<Record<string, string>>;

/** @throws Error if two views use each other */
export function loadViews(folder: string): Views {
  const directory = join(folder, "views");
  const names = readdirSync(directory).flatMap((file) => /^(\w+)\.sql$/.exec(file)?.[1] ?? []);
  const texts = new Map(names.sort().map((name) => [name, readFileSync(join(directory, `${name}.sql`), "utf8")]));
  const files = new Map<string, ViewFile>();
  const add = (name: string, users: readonly string[]) => {
    const sql = texts.get(name);
    if (sql === undefined || files.has(name) || users.at(-1) === name) return;
    if (users.includes(name)) throw new Error(`views use each other: ${[...users, name].join(", ")}`);
    for (const used of namesUsedIn(sql)) add(used, [...users, name]);
    files.set(name, toViewFile(name, sql));
  };
  for (const name of ["simcat_report", ...texts.keys()]) add(name, []);
  const { changedAt } = JSON.parse(readFileSync(join(folder, "meta/_views.json"), "utf8"));
  return { files: [...files.values()], changedAt };
}

/** No search_path is set, so a definition names the schema of each view that it uses. Its comments come after it. */
function namesUsedIn(sql: string): string[] {
  const [definition = ""] = sql.split(/^COMMENT ON/m);
  return [...definition.matchAll(/\bsimcat_report\.(\w+)/g)].map(([, name = ""]) => name);
}

function toViewFile(name: string, sql: string): ViewFile {
  const kind = /^CREATE OR REPLACE (VIEW|FUNCTION)\b/m.exec(sql)?.[1]?.toLowerCase();
  const label = kind === undefined ? `schema ${name}` : `${kind} simcat_report.${name}`;
  return { name, label, sql, hash: createHash("sha256").update(sql).digest("hex").slice(0, 16) };
}

export function hashViews({ files }: Views): ViewHashes {
  return Object.fromEntries(files.map(({ name, hash }) => [name, hash]));
}
