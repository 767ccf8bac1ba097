import { readFileSync } from "node:fs";
import type { Environment } from "../config/environment.ts";

/** The bit of signal 1 in the masks of `/proc/PID/status`. */
const SIGHUP_BIT = 1n;

/**
 * Whether the caller wants this process to survive the end of its terminal, as `nohup` asks for by ignoring SIGHUP. Node
 * resets ignored signals to their defaults before any script runs, so the disposition itself is lost. Two traces of it
 * remain: shells name the command that they ran in `_`, and a script under `nohup` ignores SIGHUP itself.
 */
export function ignoresHangup({ _: command = "" }: Environment, parent: number): boolean {
  return /(?:^|\/)nohup$/.test(command) || isIgnoredBy(parent);
}

/** Linux only: other systems have no such file. */
function isIgnoredBy(pid: number): boolean {
  try {
    const [, mask = "0"] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return (BigInt(`0x${mask}`) & SIGHUP_BIT) !== 0n;
  } catch {
    return false;
  }
}
