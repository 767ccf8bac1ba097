import { ConfigurationError } from "../../errors.ts";
import { findBinaries } from "./binaries.ts";
import { clusterIn } from "./cluster.ts";
import { checkCluster } from "./create-cluster.ts";
import { explain } from "./explain.ts";
import { canBeWritten, embeddedStateDir, type StateDirOptions } from "./state-dir.ts";

/**
 * The directory in which the embedded database would be created; null where it exists. Creates nothing.
 * @throws ConfigurationError where there can be none
 */
export async function findMissingDatabase(options: StateDirOptions): Promise<string | null> {
  const { major } = findBinaries();
  const stateDir = embeddedStateDir(options);
  try {
    if (await checkCluster(clusterIn(stateDir), major)) return null;
  } catch (error) {
    throw explain(error, stateDir);
  }
  if (canBeWritten(stateDir)) return stateDir;
  throw new ConfigurationError(
    `the embedded database cannot be kept in ${stateDir}: set SIMCAT_STATE_DIR to a directory that can be written`,
  );
}
