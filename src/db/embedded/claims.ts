import { randomUUID } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./has-code.ts";
import { processIdentity } from "./processes.ts";

/**
 * A claim is an empty file `PID.IDENTITY.RANDOM`: it says "I am using this", and can be told from one that
 * a killed process left behind, whoever has its id by now.
 */
export async function writeClaim(directory: string): Promise<string> {
  const claim = join(directory, `${process.pid}.${processIdentity(process.pid)}.${randomUUID()}`);
  await writeFile(claim, "", { mode: 0o600 });
  return claim;
}

/** The claims whose processes live. Those of dead ones are removed. */
export async function liveClaims(directory: string): Promise<string[]> {
  const live: string[] = [];
  for (const name of await namesIn(directory)) {
    const [pid, identity] = name.split(".");
    if (processIdentity(Number(pid)) === identity) live.push(name);
    else await rm(join(directory, name), { force: true });
  }
  return live;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).filter((name) => /^\d+\./.test(name));
  } catch (error) {
    if (hasCode(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}
