import { findBinaries } from "./binaries.ts";
import { clusterIn } from "./cluster.ts";
import { checkCluster, createCluster } from "./create-cluster.ts";
import { explain } from "./explain.ts";
import { withLock } from "./lock.ts";
import { prepareBinaries } from "./prepare-binaries.ts";
import { chooseServerUser } from "./server-user.ts";
import { createStateDir, embeddedStateDir, type StateDirOptions } from "./state-dir.ts";
import { type EmbeddedPostgres, useServer } from "./use-server.ts";

export type { EmbeddedPostgres } from "./use-server.ts";

export interface EmbeddedOptions extends StateDirOptions {
  /** Settings of Postgres's, such as `fsync: "off"` for a database to throw away. Without effect when attaching. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told of what takes a while. */
  readonly onProgress?: (text: string) => void;
  /** Given, a server that ends by itself or is killed is started anew until the stop, and what came of that is told here. */
  readonly onRevival?: (text: string) => void;
}

/**
 * A real Postgres in the state directory: made at the first time, started when nobody has, else attached to.
 * Throws ConfigurationError where there can be none, and DatabaseError with Postgres's own words where it does not start.
 */
export async function openEmbeddedPostgres(options: EmbeddedOptions, signal: AbortSignal): Promise<EmbeddedPostgres> {
  const { native, version, major } = findBinaries();
  try {
    const stateDir = await createStateDir(options);
    const cluster = clusterIn(stateDir);
    const user = chooseServerUser(cluster.data);
    const open = async () => {
      const prepared = await prepareBinaries({ native, version, major }, user, stateDir);
      const launcher = { native: prepared, user, environment: options.environment };
      if (!(await checkCluster(cluster, major))) {
        options.onProgress?.("preparing the embedded database (first time only)");
        await createCluster({ stateDir, lasting: options.settings?.fsync !== "off" }, launcher, signal);
      }
      const { settings = {}, onRevival = null } = options;
      return useServer(stateDir, { settings, launcher, onRevival }, signal);
    };
    return await withLock(stateDir, open, signal);
  } catch (error) {
    throw explain(error, embeddedStateDir(options));
  }
}
