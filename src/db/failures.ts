import { DatabaseError, SimcatError } from "../errors.ts";

/** The SQLSTATE or system error code of what a driver threw; empty when it has none. */
function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  if ("code" in error && typeof error.code === "string") return error.code;
  return "cause" in error ? errorCode(error.cause) : "";
}

const SOCKET = new Set([
  "ECONNRESET",
  "ECONNREFUSED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
]);
/** Shutting down, starting up, too many connections, and the time limits that end a session. */
const SERVER_GONE = new Set(["57P01", "57P02", "57P03", "53300", "25P03", "25P04", "57P05"]);

/** The session is gone; another one may do. The driver gives some of these no code, only words. */
export function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error);
  if (SOCKET.has(code) || SERVER_GONE.has(code) || code.startsWith("08")) return true;
  const thrown = asDriverThrew(error);
  return (
    code === "" &&
    thrown instanceof Error &&
    /connection (terminated|ended|timeout)|timeout exceeded when trying to connect|query read timeout|not queryable/i.test(
      thrown.message,
    )
  );
}

/** Deadlock, serialization failure, or a lock that did not come in time: the same transaction may succeed next time. */
export function isContention(error: unknown): boolean {
  return ["40P01", "40001", "55P03"].includes(errorCode(error));
}

/** No file descriptor is left for a connection: in this process, or on this machine. */
const NO_DESCRIPTOR = /^E[MN]FILE$/;

/** The database, or the way to it, failed; not simcat. */
function isDatabaseFailure(error: unknown): boolean {
  const code = errorCode(error);
  return /^[0-9A-Z]{5}$/.test(code) || NO_DESCRIPTOR.test(code) || isConnectionLost(error);
}

/** A lock was not given in time: of a row, or of a whole table. */
export function isLockTimeout(error: unknown): boolean {
  return errorCode(error) === "55P03";
}

/**
 * Classes of errors that no row causes: the connection, the state of the session (a read-only server), who may connect and
 * where, resources, a shutdown, the server's own system.
 */
const SERVER_WIDE = /^(08|25|28|3D|53|57P|58)/;

/** Whether the rows that were sent may have caused it, so that other rows may be stored. */
export function mayComeFromRows(error: unknown): boolean {
  const thrown = driverError(error);
  const code = errorCode(thrown);
  return (
    /^[0-9A-Z]{5}$/.test(code) && !SERVER_WIDE.test(code) && !isConnectionLost(thrown) && !hasStaleIdentity(thrown)
  );
}

/** What the driver threw, of a DatabaseError too. */
export function driverError(error: unknown): unknown {
  return error instanceof DatabaseError ? error.cause : error;
}

/** Logical replication copies rows, not sequences: after a promotion the next identity is one that a row has already. */
function hasStaleIdentity(error: unknown): boolean {
  const thrown = asDriverThrew(error);
  return errorCode(error) === "23505" && /^(sync_runs|rejects)_pkey$/.test(constraintOf(thrown));
}

function constraintOf(thrown: unknown): string {
  const isNamed = typeof thrown === "object" && thrown !== null && "constraint" in thrown;
  return isNamed ? String(thrown.constraint) : "";
}

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^(28P01|28000)$/, "check the user and the password in DATABASE_URL"],
  [/^3D000$/, "create that database, or correct its name in DATABASE_URL"],
  [/^(42P01|42703|3F000)$/, "a table, column or schema of simcat's is gone: see simcat check"],
  [/^42501$/, "grant what is missing to this role, then run it again"],
  [/^53100$/, "free space on the database's disk; the next run goes on from what is stored"],
  [/^53300$/, "raise the role's or the server's connection limit, or end other sessions"],
  [/^(57014|25P03|25P04|57P05)$/, "see the time limits of this role and of the server, or who cancelled it"],
  [/^55P03$/, "somebody else holds a lock on simcat's tables: see pg_stat_activity"],
  [
    /^25006$/,
    "DATABASE_URL points at a read-only server (a standby?), or default_transaction_read_only is on: use the primary, or turn it off",
  ],
  [NO_DESCRIPTOR, "too many open files: raise the limit (ulimit -n) or lower SIMCAT_CONCURRENCY"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "check the host name in DATABASE_URL"],
  [
    /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|57P03)$/,
    "check that the server runs and that DATABASE_URL names it",
  ],
];

/** Says what was tried, what the database answered, and what to do. */
export function databaseError(doing: string, error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const { text, hint } = describeFailure(error);
  return new DatabaseError(`${doing} failed: ${text}`, { hint, cause: error });
}

/** The message of what a driver threw with its code, and what to do. */
export function describeFailure(error: unknown): { readonly text: string; readonly hint: string } {
  const code = errorCode(error);
  const thrown = asDriverThrew(error);
  const first: unknown = thrown instanceof AggregateError ? (thrown.errors[0] ?? thrown) : thrown;
  const said = first instanceof Error ? first.message : String(first);
  const hint = hasStaleIdentity(error)
    ? setvalHint(constraintOf(thrown))
    : (HINTS.find(([pattern]) => pattern.test(code))?.[1] ?? "see the database's log");
  return { text: `${said}${code ? ` (${code})` : ""}`, hint };
}

function setvalHint(constraint: string): string {
  const table = `simcat.${constraint.replace(/_pkey$/, "")}`;
  return `its sequence is older than its rows (a promoted replica?), so run: SELECT setval(pg_get_serial_sequence('${table}', 'id'), (SELECT max(id) FROM ${table}))`;
}

/** drizzle wraps it into the statement and its parameters, which tell an operator nothing. */
function asDriverThrew(error: unknown): unknown {
  const inner = error instanceof Error ? error.cause : undefined;
  return inner !== undefined && errorCode(inner) === errorCode(error) ? asDriverThrew(inner) : error;
}

/** What was thrown, as a DatabaseError where the database or the way to it is at fault; anything else unchanged. */
export function namingDatabase(doing: string, thrown: unknown): unknown {
  return isDatabaseFailure(thrown) && !(thrown instanceof SimcatError) ? databaseError(doing, thrown) : thrown;
}
