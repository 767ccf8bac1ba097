import { formatMissing, hintForMissing, type MissingObjects } from "../../db/missing-objects.ts";
import type { Lack } from "../../db/privileges.ts";
import { type SchemaState, schemaFault } from "../../db/schema-state.ts";
import type { Server } from "../../db/server.ts";
import { EXIT } from "../../errors.ts";
import { formatElapsed, plural } from "../../format.ts";
import type { CheckLine } from "../../output/check.ts";
import { fail, ok, warn } from "./lines.ts";

const MIN_MAJOR = 14;
const MAX_MAJOR = 18;

/** Judges whether simcat can work with this server at all. */
export function judgeServer(server: Server, where: string): CheckLine {
  const { versionNumber, version, database, role, readOnly } = server;
  const major = Math.floor(versionNumber / 10_000);
  const text = `${where} answered: Postgres ${version}, database ${database}, role ${role}`;
  const supported = `simcat supports Postgres ${MIN_MAJOR} to ${MAX_MAJOR}`;
  if (major < MIN_MAJOR) return fail("database", EXIT.configuration, text, `${supported}: use one of these`);
  if (readOnly) {
    const refused = `${text}; it refuses writes (a standby?)`;
    return fail("database", EXIT.databaseFailed, refused, "name the primary in DATABASE_URL");
  }
  if (major > MAX_MAJOR) return warn("database", text, `${supported}; a later simcat may support this one`);
  return ok("database", text);
}

const LOOPBACK = /^(?:::1|(?:::ffff:)?127\.[\d.]+)$/;

/** Warns if data passes through a network unencrypted. Another line is returned unchanged. */
export function judgeEncryption(line: CheckLine, unencryptedAddress: string | null, setting: string): CheckLine {
  if (unencryptedAddress === null || LOOPBACK.test(unencryptedAddress)) return line;
  const text = `${line.text}; the connection is not encrypted`;
  if (line.result !== "ok") return { ...line, text };
  return warn(line.check, text, `add sslmode=verify-full to ${setting}`);
}

/** Judges the schema: current, or migrated by the next run. */
export function judgeSchema(
  state: SchemaState,
  autoMigrate: boolean,
  missing: MissingObjects | null = null,
): CheckLine {
  if (missing !== null && missing.names.length > 0) {
    const text = `version ${state.version}, but the database lacks ${formatMissing(missing)}`;
    return fail("schema", EXIT.configuration, text, hintForMissing(missing));
  }
  const fault = schemaFault(state);
  if (fault === null || state.kind === "current") return ok("schema", `version ${state.version}, up to date`);
  if (state.kind === "newer") {
    const text = `version ${state.version} is newer than this simcat: a later one has migrated it`;
    return fail("schema", EXIT.configuration, text, "run that simcat, or a later one");
  }
  if (state.kind === "older") return fail("schema", EXIT.configuration, fault.problem, fault.hint);
  const text =
    state.version === 0 ? "none yet" : `version ${state.version}, ${plural(state.missing, "migration")} behind`;
  if (autoMigrate) return ok("schema", `${text}; it will be migrated by the next run`);
  return fail("schema", EXIT.configuration, text, "run simcat migrate (SIMCAT_AUTO_MIGRATE is false)");
}

/** Judges whether the role may do what a run does. */
export function judgePrivileges(lacks: readonly Lack[]): CheckLine {
  if (lacks.length === 0) return ok("privileges", "all that a run needs");
  const missing = lacks.map(({ what }) => what).join("; ");
  const hint = lacks.map(({ grant }) => grant).join(" ");
  return fail("privileges", EXIT.databaseFailed, `lacks ${missing}`, hint);
}

const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Judges this machine's clock. simcat decides nothing by it, but people compare log lines by it. */
export function judgeClock(machineMs: number, databaseMs: number): CheckLine {
  const difference = machineMs - databaseMs;
  const elapsed = formatElapsed(Math.abs(difference));
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE_MS) {
    return ok("clock", `this machine's and the database's are ${elapsed} apart`);
  }
  const relation = difference > 0 ? "ahead of" : "behind";
  const text = `this machine's is ${elapsed} ${relation} the database's, which simcat uses`;
  return warn("clock", text, "correct the wrong one; log lines have this machine's time");
}
