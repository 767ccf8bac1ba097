import { readFileSync } from "node:fs";
import type { Environment } from "../config/readers.ts";

/** The bit of signal 1 in the masks of `/proc/PID/status`. */
const SIGHUP_BIT = 1n;

/**
 * True if the process was started under `nohup`, which ignores SIGHUP so that the process survives its terminal. Node resets
 * ignored signals before any script runs, so there are only two traces of it: shells put the command that they run into
 * `_`, and the parent, a script under `nohup`, ignores SIGHUP itself.
 */
export function ignoresHangup({ _: command = "" }: Environment, parent: number): boolean {
  return /(?:^|\/)nohup$/.test(command) || isIgnoredBy(parent);
}

/** Works on Linux. Other systems have no such file. */
function isIgnoredBy(pid: number): boolean {
  try {
    const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (BigInt(`0x${mask}`) & SIGHUP_BIT) !== 0n;
  } catch {
    return false;
  }
}
