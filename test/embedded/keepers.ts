import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, onTestFinished } from "vitest";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../../src/embedded-postgres/embedded-postgres.ts";
import { withClient } from "../support/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

type Opened = Pick<EmbeddedPostgres, "url" | "readerUrl" | "psql" | "dataDirectory" | "started">;

interface KeeperOptions {
  /** Another user, who runs the project from a directory that is open to all. */
  readonly other?: { readonly uid: number; readonly project: string };
  readonly environment?: Readonly<Record<string, string>>;
}

export const never = new AbortController().signal;

/** Opens the embedded database in this process. */
export function openHere(stateDir: string, signal = never): Promise<EmbeddedPostgres> {
  return openEmbeddedPostgres({ stateDir, environment: process.env, settings: { fsync: "off" } }, signal);
}

/** For one test; processes that still run when the test ends are stopped. */
export const newStateDir = () => join(temporaryDirectory(), "state");

/** For all tests of a file, which stop the servers that they start: creating a database takes longer than anything else. */
export const sharedStateDir = () => join(temporaryDirectory(afterAll), "state");

/** Starts another process that opens the embedded database and keeps it open. */
export function startKeeper(stateDir: string | null, { other, environment }: KeeperOptions = {}) {
  const project = other?.project ?? fileURLToPath(new URL("../..", import.meta.url));
  const program = join(project, "test/embedded/keeper.ts");
  const child = spawn(process.execPath, ["--import", "tsx", program, ...(stateDir === null ? [] : [stateDir])], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: project,
    ...(other === undefined ? {} : { uid: other.uid, gid: other.uid }),
    ...(environment === undefined ? {} : { env: environment }),
  });
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  return {
    child,
    opened: readOpened(child),
    /** Lets it close its database; resolves to its exit code. */
    stop: async () => {
      child.stdin.end();
      await ended;
      return child.exitCode;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function readOpened(child: ChildProcess): Promise<Opened> {
  if (child.stdout === null) throw new Error("no output to read");
  for await (const line of createInterface(child.stdout)) {
    const told: Opened | { error: string } = JSON.parse(line);
    if ("error" in told) throw new Error(told.error);
    return told;
  }
  throw new Error("the keeper ended without a word");
}

export async function query(url: string, sql: string): Promise<unknown[]> {
  return withClient(url, async (client) => (await client.query(sql)).rows);
}

/** Whether a server accepts connections at a URL. */
export async function answers(url: string): Promise<boolean> {
  return query(url, "SELECT 1").then(
    () => true,
    () => false,
  );
}
