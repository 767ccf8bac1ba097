import { readFile, rm } from "node:fs/promises";
import { ConfigurationError, DatabaseError } from "../../errors.ts";
import { attach } from "./attach.ts";
import { liveClaims, writeClaim } from "./claims.ts";
import { type Cluster, clusterIn } from "./cluster.ts";
import { databaseUrl } from "./connect.ts";
import { hasCode } from "./has-code.ts";
import { keepUp } from "./keep-up.ts";
import type { Launcher } from "./launch.ts";
import { withLock } from "./lock.ts";
import { readPostmaster } from "./postmaster.ts";
import { startServer } from "./start-server.ts";
import { stopServer } from "./stop-server.ts";

export interface EmbeddedPostgres {
  /** `postgres://simcat:…@127.0.0.1:PORT/simcat` */
  readonly url: string;
  /** A command line to paste. */
  readonly psql: string;
  readonly dataDirectory: string;
  /** False: the server was there already. */
  readonly started: boolean;
  /** Lets go of the server, which stops when nobody else uses it. */
  stop(): Promise<void>;
}

export interface ServerUse {
  readonly settings: Readonly<Record<string, string>>;
  readonly launcher: Launcher;
  /** Called with what came of it when the server was gone; null leaves it gone. */
  readonly onRevival: ((text: string) => void) | null;
}

/** Attaches to the server of a state directory, or starts it. To be called with the lock held. */
export async function useServer(stateDir: string, use: ServerUse, signal: AbortSignal): Promise<EmbeddedPostgres> {
  const { launcher, onRevival } = use;
  const cluster = clusterIn(stateDir);
  const password = await readPassword(cluster);
  const claim = await writeClaim(cluster.users);
  try {
    const { port, started } = await attachOrStart(cluster, password, use, signal);
    const url = databaseUrl(port, password);
    const revive = (ended: AbortSignal) =>
      withLock(stateDir, async () => assertSame(port, await attachOrStart(cluster, password, use, ended)), ended);
    const endKeeping = onRevival === null ? async () => {} : keepUp(cluster, revive, onRevival);
    const stop = once(async () => {
      await endKeeping();
      await leave(stateDir, claim, launcher.native);
    });
    return { url, psql: `psql '${url}'`, dataDirectory: cluster.data, started, stop };
  } catch (error) {
    await rm(claim, { force: true });
    await stopUnused(cluster, launcher.native);
    throw error;
  }
}

interface Running {
  readonly port: number;
  readonly started: boolean;
}

async function attachOrStart(
  cluster: Cluster,
  password: string,
  { settings, launcher }: ServerUse,
  signal: AbortSignal,
): Promise<Running> {
  const there = await attach(cluster, password, signal);
  if (there !== null) return { port: there, started: false };
  await startServer(cluster, settings, launcher, signal);
  const port = await attach(cluster, password, signal);
  if (port === null) throw new DatabaseError(`the embedded Postgres ended after its start; ${cluster.log} says why`);
  return { port, started: true };
}

/** Whoever was given the URL knows no other port. */
function assertSame(known: number, { port }: Running): void {
  if (port === known) return;
  throw new DatabaseError(`another program has taken its port ${known}, so it listens on ${port}; start simcat anew`);
}

async function leave(stateDir: string, claim: string, native: string): Promise<void> {
  await rm(claim, { force: true });
  try {
    await withLock(stateDir, () => stopUnused(clusterIn(stateDir), native), AbortSignal.timeout(60_000));
  } catch (error) {
    // Where the lock has no room, or its directory was removed, stopping is left to the watchdog.
    if (!hasCode(error, "ENOSPC", "EDQUOT", "ENOENT")) throw error;
  }
}

/** The last one out stops the server. To be called with the lock held. */
async function stopUnused(cluster: Cluster, native: string): Promise<void> {
  if ((await liveClaims(cluster.users)).length > 0) return;
  const running = await readPostmaster(cluster.data);
  if (running !== null) await stopServer(running.pid, cluster.data, native);
}

async function readPassword(cluster: Cluster): Promise<string> {
  try {
    return await readFile(cluster.password, "utf8");
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    const remedy = `put it back, or remove ${cluster.directory} and run simcat backfill`;
    throw new ConfigurationError(`${cluster.password} is missing, and only it opens the database beside it: ${remedy}`);
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= work();
    return done;
  };
}
