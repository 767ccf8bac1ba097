import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { poll, sleep } from "../async.ts";
import { DatabaseError } from "../errors.ts";
import { type Cluster, clusterIn } from "./cluster.ts";
import { type Launcher, lastLines, launch } from "./launch.ts";
import { disownPostmaster, readPostmaster } from "./postmaster.ts";
import { startWatchdog } from "./supervise.ts";

/** Recovery after a crash during a long load takes minutes. */
const READY_TIMEOUT_MS = 10 * 60_000;
const MAX_ATTEMPTS = 20;

type Settings = Readonly<Record<string, string>>;

/**
 * Starts the server of a cluster on a free loopback port. Resolves when it accepts connections.
 * @throws DatabaseError with the last lines of its log
 */
export async function startServer(
  cluster: Cluster,
  settings: Settings,
  launcher: Launcher,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    const port = await choosePort(cluster);
    const failure = await tryToStart(cluster, { ...settings, port: String(port) }, launcher, signal);
    if (failure === null) return;
    // Another program took the port, or backends of a crashed server are still exiting.
    if (attempt === MAX_ATTEMPTS || !/could not bind|Address already in use|still in use/.test(failure))
      throw new DatabaseError(
        `the embedded Postgres in ${cluster.data} did not start. Its output:\n${lastLines(failure)}`,
      );
    await sleep(250, signal);
  }
}

/** @returns null if the server runs, otherwise its log */
async function tryToStart(
  cluster: Cluster,
  settings: Settings,
  launcher: Launcher,
  signal: AbortSignal,
): Promise<string | null> {
  await rm(cluster.closing, { force: true });
  await disownPostmaster(cluster.data);
  const output = openSync(cluster.log, "w", 0o600);
  const args = (directory: string) => ["-D", clusterIn(directory, ".").data, ...asArguments(settings)];
  const child = launch(launcher, { program: "postgres", directory: cluster.directory, args, output });
  closeSync(output);
  child.unref();
  const ended = once(child, "exit");
  ended.catch(() => {}); // A failed spawn is reported below.
  const { pid } = child;
  if (pid === undefined) return ended.then(() => "");
  startWatchdog(pid, cluster);

  const isReady = async () => {
    const running = await readPostmaster(cluster.data);
    if (running?.pid === pid && running.ready) return true;
    return child.exitCode === null && child.signalCode === null ? null : false;
  };
  try {
    const ready = await poll(isReady, READY_TIMEOUT_MS, signal);
    if (ready) return null;
  } catch (error) {
    child.kill("SIGINT");
    throw error;
  }
  child.kill("SIGINT");
  return readFile(cluster.log, "utf8");
}

function asArguments(settings: Settings): string[] {
  const defaults = { listen_addresses: "127.0.0.1", unix_socket_directories: "", log_checkpoints: "off" };
  return Object.entries({ ...defaults, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** The port of the last start if it is free, otherwise any free one. */
async function choosePort(cluster: Cluster): Promise<number> {
  const last = Number(await readFile(cluster.port, "utf8").catch(() => "0"));
  const port = (await freePort(last)) ?? (await freePort(0));
  if (port === null) throw new DatabaseError("no port of 127.0.0.1 is free for the embedded Postgres");
  if (port !== last) await writeFile(cluster.port, String(port));
  return port;
}

async function freePort(wanted: number): Promise<number | null> {
  const server = createServer();
  try {
    server.listen(wanted, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    return typeof address === "object" ? (address?.port ?? null) : null;
  } catch {
    return null;
  } finally {
    server.close();
  }
}
