import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "./cluster.ts";
import { readPostmaster } from "./postmaster.ts";

const CHECK_INTERVAL_MS = 1_000;
const RETRY_INTERVAL_MS = 10_000;

/**
 * Restarts the server of a cluster whenever it has ended. Reports each restart, and a failure once as long as it stays the same.
 * @returns ends the supervision and waits for a restart in progress
 */
export function superviseServer(
  cluster: Cluster,
  restart: (signal: AbortSignal) => Promise<void>,
  onRestart: (text: string) => void,
): () => Promise<void> {
  const end = new AbortController();
  const { signal } = end;
  let reported: string | null = null;
  const check = async (): Promise<number> => {
    try {
      if ((await readPostmaster(cluster.data)) !== null) return CHECK_INTERVAL_MS;
      await restart(signal);
      reported = null;
      onRestart("the embedded Postgres had ended and was restarted");
      return CHECK_INTERVAL_MS;
    } catch (error) {
      const text = `the embedded Postgres has ended and cannot be restarted: ${error instanceof Error ? error.message : error}`;
      if (!signal.aborted && text !== reported) onRestart(text);
      reported = text;
      return RETRY_INTERVAL_MS;
    }
  };
  const keepChecking = async () => {
    for (let interval = CHECK_INTERVAL_MS; !signal.aborted; interval = await check()) {
      await sleep(interval, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const checking = keepChecking();
  return () => {
    end.abort();
    return checking;
  };
}

/**
 * Stops the server after all its clients were killed. A parent-death signal would not do: it would stop the server together
 * with the process that started it, while other clients still use it.
 * The script marks the cluster as closing and then checks the clients again; a new client registers itself and then checks
 * the mark. So one of the two notices the other.
 */
const WATCHDOG = `
server=$1 lock=$2 clients=$3 closing=$4
alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }
in_use() {
  for registration in "$clients"/*; do
    name=\${registration##*/}
    alive "\${name%%.*}" && return 0
  done
  return 1
}
while sleep 1; alive "$server"; do
  in_use && continue
  running=
  read -r running 2>/dev/null < "$lock"
  [ "$running" = "$server" ] || continue
  : > "$closing"
  if in_use; then rm -f "$closing"; continue; fi
  kill -INT "$server"
  exit
done
`;

/** Starts the watchdog of a server. Windows has no shell for it: there, the next simcat attaches to a leftover server. */
export function startWatchdog(server: number, cluster: Cluster): void {
  if (process.platform === "win32") return;
  // The pid file disappears with an orderly stop, even if the process remains as a zombie for a while.
  const lock = join(cluster.data, "postmaster.pid");
  const args = ["-c", WATCHDOG, "simcat-watchdog", String(server), lock, cluster.clients, cluster.closing];
  const child = spawn("/bin/sh", args, { cwd: "/", detached: true, stdio: "ignore" });
  child.on("error", () => {}); // Without a shell, the same applies as on Windows.
  child.unref();
}
