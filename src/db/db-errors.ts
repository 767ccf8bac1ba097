import { DatabaseError, hasErrorCode, MissingObjectError, SimcatError, toError } from "../errors.ts";

const SOCKET_ERRORS = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);
/** SQLSTATEs of a shutdown, a start, too many connections, and the time limits that end a session. */
const SESSION_ENDED = new Set(["57P01", "57P02", "57P03", "53300", "25P03", "25P04", "57P05"]);
/** The driver gives these errors no code. */
const LOST_CONNECTION_MESSAGE =
  /connection (terminated|ended|timeout)|timeout exceeded when trying to connect|query read timeout|not queryable/i;
/** No file descriptor is left for a connection, in this process or on this machine. */
const NO_DESCRIPTOR = /^E[MN]FILE$/;
/** A table, a column, a schema or a function. */
const MISSING_OBJECT = /^(42P01|42703|3F000|42883)$/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** Classes of SQLSTATEs that no row causes: connection, read-only server, authentication, resources, shutdown, the server's system. */
const SERVER_WIDE = /^(08|25|28|3D|53|57P|58)/;

/** The SQLSTATE or the system's error code; empty if there is none. */
function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether the session has ended, so that another one may succeed. */
export function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error);
  if (SOCKET_ERRORS.has(code) || SESSION_ENDED.has(code) || code.startsWith("08")) return true;
  return code === "" && error instanceof Error && LOST_CONNECTION_MESSAGE.test(error.message);
}

/** Whether it is a deadlock, a serialization failure or a lock timeout, so that the same transaction may succeed later. */
export function isContention(error: unknown): boolean {
  return hasErrorCode(error, "40P01", "40001", "55P03");
}

/** Whether a lock on a row or a table was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  return hasErrorCode(error, "55P03");
}

/** Whether the rows that were sent may have caused the error, so that other rows can be stored. */
export function mayComeFromRows(error: unknown): boolean {
  const thrown = driverError(error);
  const code = errorCode(thrown);
  return SQLSTATE.test(code) && !SERVER_WIDE.test(code) && !isConnectionLost(thrown);
}

/** The driver's own error, also if it has become the cause of a DatabaseError. */
export function driverError(error: unknown): unknown {
  return error instanceof DatabaseError ? error.cause : error;
}

/** A DatabaseError that says what was tried, what the database answered, and what to do. */
export function databaseError(operation: string, error: unknown): DatabaseError {
  const { text, hint } = describeDatabaseFailure(error);
  const Failure = MISSING_OBJECT.test(errorCode(error)) ? MissingObjectError : DatabaseError;
  return new Failure(`${operation} failed: ${text}`, { hint, cause: error });
}

/** A DatabaseError if the database or the way to it failed; any other error unchanged. */
export function asDatabaseError(operation: string, thrown: unknown): unknown {
  const code = errorCode(thrown);
  const isFailure = SQLSTATE.test(code) || NO_DESCRIPTOR.test(code) || isConnectionLost(thrown);
  return isFailure && !(thrown instanceof SimcatError) ? databaseError(operation, thrown) : thrown;
}

/** Migrations have a URL of their own if it is set. */
const URL_NAME = "DATABASE_URL, or in DATABASE_DIRECT_URL if that is set";

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(28P01|28000)$/, `check the user and the password in ${URL_NAME}`],
  [/^3D000$/, `create that database, or correct its name in ${URL_NAME}`],
  [MISSING_OBJECT, "a table, column, view or function of simcat is missing; run simcat check"],
  [
    /^42501$/,
    "grant the missing privilege to this role (simcat check names those that a run needs, deploy/roles.sql has those of a reader), then run the command again",
  ],
  [/^53100$/, "free space on the database's disk; the next run continues from what is stored"],
  [/^53300$/, "raise the role's or the server's connection limit, or end other sessions"],
  [
    /^(57014|25P03|25P04|57P05)$/,
    "check the time limits of this role and of the server, or who cancelled the statement",
  ],
  [/^55P03$/, "another session holds a lock; see pg_stat_activity"],
  [
    /^25006$/,
    "DATABASE_URL points at a read-only server (a standby?), or default_transaction_read_only is on; use the primary, or turn the setting off",
  ],
  [NO_DESCRIPTOR, "too many open files; raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY"],
  [
    /CERT|^UNABLE_TO_/,
    "name the certificate's authority with sslrootcert=FILE in DATABASE_URL, and the host as the certificate does",
  ],
  [/^The server does not support SSL/, "switch TLS on at the server, or remove sslmode (DATABASE_URL, PGSSLMODE)"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, `check the host name in ${URL_NAME}`],
  [
    /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|57P03)$/,
    `check that the server runs, and its address in ${URL_NAME}`,
  ],
];

/** The failure and what to do, in one line. */
export function formatDatabaseFailure(error: unknown): string {
  if (error instanceof SimcatError) return error.message;
  const { text, hint } = describeDatabaseFailure(error);
  return `${text}; ${hint}`;
}

/** The driver's message with its code, and what to do. */
function describeDatabaseFailure(error: unknown): { readonly text: string; readonly hint: string } {
  const code = errorCode(error);
  const first: unknown = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const { message } = toError(first);
  const hint = HINTS.find(([pattern]) => pattern.test(code || message))?.[1] ?? "see the database's log";
  return { text: `${message}${code ? ` (${code})` : ""}`, hint };
}
