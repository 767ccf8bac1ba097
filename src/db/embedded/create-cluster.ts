import { randomBytes, randomUUID } from "node:crypto";
import { chown, mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "../../errors.ts";
import { type Cluster, clusterIn } from "./cluster.ts";
import { hasCode } from "./has-code.ts";
import { initdb } from "./initdb.ts";
import type { Launcher } from "./launch.ts";
import { removeDirectory } from "./remove-directory.ts";

export interface NewCluster {
  readonly stateDir: string;
  /** Whether its files are forced to disk; not worth its time for a throw-away one. */
  readonly lasting: boolean;
}

/** Refuses data that this Postgres cannot read. Answers whether there is data at all. */
export async function checkCluster(cluster: Cluster, major: string): Promise<boolean> {
  const found = await readFile(join(cluster.data, "PG_VERSION"), "utf8").catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  });
  if (found === null) return false;
  if (found.trim() === major) return true;
  throw new ConfigurationError(
    `${cluster.data} was made by Postgres ${found.trim()} and this simcat brings Postgres ${major}: set SIMCAT_STATE_DIR ` +
      "to another directory and run simcat backfill, or set DATABASE_URL to a Postgres that holds that data",
  );
}

/** Made under a draft's name and renamed: an interrupted initdb leaves nothing that looks like a database. */
export async function createCluster(
  { stateDir, lasting }: NewCluster,
  launcher: Launcher,
  signal: AbortSignal,
): Promise<void> {
  await removeDrafts(stateDir);
  const draft = clusterIn(stateDir, `draft-${randomUUID()}`);
  const { uid, gid } = launcher.user ?? { uid: -1, gid: -1 }; // -1 leaves the owner as it is.
  try {
    await mkdir(draft.users, { recursive: true, mode: 0o700 });
    await writeFile(draft.password, randomBytes(24).toString("base64url"), { mode: 0o600 });
    for (const place of [draft.directory, draft.users, draft.password]) await chown(place, uid, gid);
    await initdb(draft, lasting, launcher, signal);
    await rename(draft.directory, clusterIn(stateDir).directory);
  } catch (error) {
    await removeDirectory(draft.directory);
    throw error;
  }
}

/** Left by a process that was killed while initdb ran. */
async function removeDrafts(stateDir: string): Promise<void> {
  for (const name of await readdir(stateDir))
    if (name.startsWith("draft-")) await removeDirectory(join(stateDir, name));
}
