import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** What Linux tells of a process: the kernel function in which each thread sleeps, and its TCP sockets as /proc has them. */
export function describeProcess(pid: number): string {
  const at = `/proc/${pid}`;
  try {
    const waits = readdirSync(`${at}/task`).map((thread) => readFileSync(`${at}/task/${thread}/wchan`, "utf8") || "?");
    const files = readdirSync(`${at}/fd`).map((fd) => linkOf(`${at}/fd/${fd}`));
    const inodes = files.flatMap((file) => /^socket:\[(\d+)\]$/.exec(file)?.[1] ?? []);
    const lines = ["tcp", "tcp6"].flatMap((table) => readFileSync(`${at}/net/${table}`, "utf8").split("\n"));
    const sockets = lines.filter((line) => inodes.includes(line.trim().split(/\s+/)[9] ?? ""));
    return [`threads wait in: ${waits.join(", ")}`, `${inodes.length} sockets, by TCP:`, ...sockets].join("\n");
  } catch (error) {
    return `nothing is known of process ${pid}: ${error}`;
  }
}

/** A file may be closed while the list is read. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
