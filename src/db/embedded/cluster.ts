import { join } from "node:path";

/** Where things lie in a state directory. All of a cluster is below one directory, so that it appears as a whole. */
export interface Cluster {
  readonly directory: string;
  readonly data: string;
  /** The password of the role `simcat`, mode 0600. */
  readonly password: string;
  /** What Postgres said since it was last started. */
  readonly log: string;
  /** The port of last time, so that a URL that somebody keeps stays good. */
  readonly port: string;
  /** One claim for each user of the server. */
  readonly users: string;
  /** There while the watchdog is about to stop the server. */
  readonly closing: string;
}

export function clusterIn(stateDir: string, name = "postgres"): Cluster {
  const directory = join(stateDir, name);
  return {
    directory,
    data: join(directory, "data"),
    password: join(directory, "password"),
    log: join(directory, "postgres.log"),
    port: join(directory, "port"),
    users: join(directory, "users"),
    closing: join(directory, "closing"),
  };
}
