import { spawn } from "node:child_process";
import { join } from "node:path";
import type { Cluster } from "./cluster.ts";

/**
 * Stops the server when every process that used it was killed. Not the parent-death signal: that would stop the server
 * with the process that happened to start it, under the feet of all that have attached since.
 * It says that it is closing and then looks again, as a newcomer says that it is here and then looks: one sees the other.
 */
const SCRIPT = `
server=$1 lock=$2 users=$3 closing=$4
alive() { kill -0 "$1" 2>/dev/null || [ -d "/proc/$1" ]; }
used() {
  for claim in "$users"/*; do
    name=\${claim##*/}
    alive "\${name%%.*}" && return 0
  done
  return 1
}
while sleep 1; alive "$server"; do
  used && continue
  running=
  read -r running 2>/dev/null < "$lock"
  [ "$running" = "$server" ] || continue
  : > "$closing"
  if used; then rm -f "$closing"; continue; fi
  kill -INT "$server"
  exit
done
`;

/** Windows has no shell for it: a server that was left over there is attached to by the next one. */
export function watchServer(server: number, cluster: Cluster): void {
  if (process.platform === "win32") return;
  // Gone with an orderly stop, when the process may linger as a zombie.
  const lock = join(cluster.data, "postmaster.pid");
  const args = ["-c", SCRIPT, "simcat-watchdog", String(server), lock, cluster.users, cluster.closing];
  const child = spawn("/bin/sh", args, { cwd: "/", detached: true, stdio: "ignore" });
  child.on("error", () => {}); // Without a shell it is as on Windows.
  child.unref();
}
