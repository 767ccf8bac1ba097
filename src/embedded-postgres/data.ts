import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { chmod, chown, lstat, mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ConfigurationError, DatabaseError, hasErrorCode } from "../errors.ts";
import { lastLines, type Programs, runPostgresProgram } from "./programs.ts";
import { assertSameVersion, replaceStalePid } from "./server.ts";

interface DataOptions {
  readonly settings: Readonly<Record<string, string>>;
  /** Makes the role simcat a superuser, for tests. */
  readonly superuser: boolean;
}

interface Passwords {
  readonly simcat: string;
  readonly reader: string;
}

/** Creates the data under a temporary name and renames it, so that an interruption leaves no partial database. */
export async function createData(
  programs: Programs,
  stateDir: string,
  options: DataOptions,
  signal: AbortSignal,
): Promise<void> {
  const { account } = programs;
  for (const name of await readdir(stateDir))
    if (name.startsWith("draft-")) await removeDraft(programs, join(stateDir, name));
  const draft = join(stateDir, `draft-${randomUUID()}`);
  const data = join(draft, "data");
  try {
    await mkdir(draft, { mode: account === null ? 0o700 : 0o711 });
    await mkdir(data, { mode: 0o700 });
    if (account !== null) await chown(data, account.uid, account.gid);
    const locale = ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
    const initdb = ["initdb", "-U", "postgres", "-A", "reject", "--no-instructions", ...locale];
    if (options.settings.fsync === "off") initdb.push("--no-sync");
    await prepare(programs, draft, initdb, { signal });
    await prepare(programs, draft, singleUser("postgres", options), { input: "CREATE DATABASE simcat", signal });
    await savePasswords(draft, await createRoles(programs, draft, options, signal));
    await rename(draft, join(stateDir, "postgres"));
  } catch (error) {
    await removeDraft(programs, draft);
    throw error;
  }
}

/**
 * Upgrades data that version 0.1.0 created: there simcat is a superuser, and the directory belongs to the server's account.
 * Needed again after an interruption: `pgpass` is written last.
 */
export async function upgradeData(programs: Programs, directory: string, signal: AbortSignal): Promise<void> {
  if (programs.account !== null) {
    await chown(directory, 0, 0);
    await chmod(directory, 0o711);
  }
  const passwords = await createRoles(programs, directory, { settings: {}, superuser: false }, signal);
  for (const name of await readdir(directory)) if (name !== "data") await removeOfAccount(programs, directory, name);
  await savePasswords(directory, passwords);
}

/**
 * Creates the roles of deploy/roles.sql, or transfers existing tables to them. The one that owns the database is called
 * simcat. The superuser cannot log in, because it has no password, and the server requires one.
 */
async function createRoles(
  programs: Programs,
  directory: string,
  options: DataOptions,
  signal: AbortSignal,
): Promise<Passwords> {
  const [simcat, reader] = [randomBytes(24).toString("base64url"), randomBytes(24).toString("base64url")];
  const input = [
    // ALTER ROLE refuses to rename the superuser of version 0.1.0, because it is the session's own role.
    `UPDATE pg_authid SET rolname = CASE oid WHEN 10 THEN 'postgres' ELSE 'simcat_migrator' END WHERE rolname = 'simcat'`,
    "ALTER ROLE postgres PASSWORD NULL",
    // Without the lines for psql.
    readFileSync(new URL("../../deploy/roles.sql", import.meta.url), "utf8").replace(/^\\if[\s\S]*?\\endif$/m, ""),
    "ALTER ROLE simcat_migrator RENAME TO simcat",
    `ALTER ROLE simcat ${options.superuser ? "SUPERUSER " : ""}PASSWORD '${simcat}'`,
    `ALTER ROLE simcat_reader PASSWORD '${reader}'`,
    "ALTER DATABASE simcat OWNER TO simcat",
    // Otherwise simcat, whose name is that of the schema of the tables, would not find the views.
    "ALTER DATABASE simcat SET search_path = simcat_report, public",
    `DO $$ BEGIN
       EXECUTE format('COPY (SELECT unnest(%L::text[])) TO %L',
         ARRAY['local all all scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256'], current_setting('hba_file'));
     END $$`,
  ].join(";\n\n");
  await prepare(programs, directory, singleUser("simcat", options), { input, signal });
  return { simcat, reader };
}

async function savePasswords(directory: string, { simcat, reader }: Passwords): Promise<void> {
  await writeFile(join(directory, "password"), simcat, { mode: 0o600 });
  await writeFile(join(directory, "pgpass"), `127.0.0.1:*:simcat:simcat_reader:${reader}\n`, { mode: 0o600 });
}

/** A command that executes statements from its standard input, which are separated by empty lines. */
function singleUser(database: string, { settings }: DataOptions): string[] {
  const set = Object.entries({ ...settings, exit_on_error: "on" }).flatMap(([name, value]) => [
    "-c",
    `${name}=${value}`,
  ]);
  return ["postgres", "--single", "-j", ...set, database];
}

/** Runs a program on data that no server uses. @throws ConfigurationError or DatabaseError with its last lines of output */
async function prepare(
  programs: Programs,
  directory: string,
  command: readonly string[],
  options: { readonly input?: string; readonly signal: AbortSignal },
): Promise<void> {
  const { code, output } = await runPostgresProgram(programs, directory, command, options);
  if (code === 0) return;
  if (output.includes("could not look up effective user ID"))
    throw new ConfigurationError(
      `the embedded Postgres cannot be created, because user id ${process.getuid?.()} has no passwd entry`,
      { hint: "set DATABASE_URL to a Postgres 14 to 18, or run simcat as a user of this machine" },
    );
  assertSameVersion(directory, output);
  if (await replaceStalePid(programs, directory, output)) return prepare(programs, directory, command, options);
  if (output.includes("another postmaster"))
    throw new DatabaseError(`an earlier version of simcat is using the database in ${directory}`, {
      hint: "end it, then try again: this version upgrades the database first",
    });
  throw new DatabaseError(
    `the embedded Postgres could not prepare its database in ${directory}. Output of ${command[0]}:\n${lastLines(output)}`,
  );
}

async function removeDraft(programs: Programs, draft: string): Promise<void> {
  if (existsSync(join(draft, "data"))) await removeOfAccount(programs, draft, "data");
  await rm(draft, { recursive: true, force: true, maxRetries: 5 });
}

/** Five seconds in all. */
const REMOVE_ATTEMPTS = 50;
const REMOVE_PAUSE_MS = 100;

/** Removes an entry. The account empties a directory of its own, because root would follow links that it puts there. */
async function removeOfAccount(programs: Programs, directory: string, name: string): Promise<void> {
  const path = join(directory, name);
  if (programs.account === null || !(await lstat(path)).isDirectory())
    return rm(path, { recursive: true, force: true, maxRetries: 5 });
  const empty = ["/bin/sh", "-c", 'cd "$PGDATA/../$1" && rm -rf -- * .[!.]*', "sh", name];
  for (let attempt = 1; ; attempt++) {
    await runPostgresProgram(programs, directory, empty);
    try {
      return await rmdir(path);
    } catch (error) {
      // A program of the account outlives a killed simcat for a moment, and still writes there.
      if (!hasErrorCode(error, "ENOTEMPTY") || attempt === REMOVE_ATTEMPTS) throw error;
      await setTimeout(REMOVE_PAUSE_MS);
    }
  }
}
