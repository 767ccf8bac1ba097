import { ConfigurationError, DatabaseError } from "../../errors.ts";
import { hasCode } from "./has-code.ts";

const NO_PLACE = ["EACCES", "EPERM", "EROFS", "ENOENT", "ENOTDIR", "EEXIST", "ENOTEMPTY", "ENAMETOOLONG", "ELOOP"];

/** Says of an error of the system's what it means for the embedded database, and what to do. */
export function explain(error: unknown, stateDir: string): unknown {
  const said = error instanceof Error ? error.message : String(error);
  if (hasCode(error, "ENOSPC", "EDQUOT") || /No space left on device|Disk quota exceeded/.test(said))
    return new DatabaseError(
      `no room for the embedded database: make room, or set SIMCAT_STATE_DIR to a directory on a larger disk than ${stateDir}. ${said}`,
      { cause: error },
    );
  if (said.startsWith("spawn "))
    return new ConfigurationError(
      `the embedded Postgres cannot be run on this machine (${said}): set DATABASE_URL to a Postgres 14 to 18`,
      { cause: error },
    );
  if (hasCode(error, ...NO_PLACE))
    return new ConfigurationError(
      `the embedded database cannot be kept in ${stateDir} (${said}): set SIMCAT_STATE_DIR to a directory that can be written`,
      { cause: error },
    );
  return error;
}
