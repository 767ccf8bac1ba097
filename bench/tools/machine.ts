import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import type { Pool } from "../../src/db/connect.ts";

export interface Machine {
  readonly date: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
  readonly commit: string;
  /** The load average of the last minute before the benches. */
  readonly load: number;
}

export async function describeMachine(pool: Pool): Promise<Machine> {
  const { rows } = await pool.query<{ server_version: string }>("SHOW server_version");
  return {
    date: new Date().toISOString().slice(0, 10),
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1e9),
    system: `${type()} ${release()}`,
    node: process.version,
    postgres: rows[0]?.server_version ?? "unknown",
    commit: readCommit(),
    load: loadavg()[0] ?? 0,
  };
}

function readCommit(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "unknown";
  }
}
