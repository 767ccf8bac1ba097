import type { Server } from "../../db/server.ts";
import { EXIT } from "../../errors.ts";
import { formatElapsed } from "../../format.ts";
import type { CheckLine } from "../../report/check.ts";
import { fail, ok, warn } from "./lines.ts";

const OLDEST = 14;
const NEWEST = 18;
const CLOCKS_APART_MS = 60_000;

/** Whether simcat can work with this server at all. */
export function judgeServer(server: Server, where: string): CheckLine {
  const { versionNumber, version, database, role, readOnly } = server;
  const major = Math.floor(versionNumber / 10_000);
  const text = `${where} answered: Postgres ${version}, database ${database}, role ${role}`;
  const known = `simcat knows Postgres ${OLDEST} to ${NEWEST}`;
  if (major < OLDEST) return fail("database", EXIT.configuration, text, `${known}: use one of these`);
  if (readOnly) {
    return fail(
      "database",
      EXIT.databaseFailed,
      `${text}; it takes no writes (a standby?)`,
      "name the primary in DATABASE_URL",
    );
  }
  if (major > NEWEST) return warn("database", text, `${known}; a later simcat may know this one`);
  return ok("database", text);
}

/** Nothing is decided by the machine's clock, but people compare log lines by it. */
export function judgeClock(machineMs: number, databaseMs: number): CheckLine {
  const apart = machineMs - databaseMs;
  const size = formatElapsed(Math.abs(apart));
  if (Math.abs(apart) <= CLOCKS_APART_MS) return ok("clock", `this machine's and the database's are ${size} apart`);
  const text = `this machine's is ${size} ${apart > 0 ? "ahead of" : "behind"} the database's, by which simcat goes`;
  return warn("clock", text, "set the one that is wrong; log lines have this machine's time");
}
