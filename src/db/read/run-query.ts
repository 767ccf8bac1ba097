import pg from "pg";
import { UsageError } from "../../errors.ts";
import { formatLimit } from "../../format.ts";
import type { Connection, Pool } from "../connect.ts";
import { asDatabaseError, isConnectionLost, isContention } from "../db-errors.ts";
import { TAKE_READER_RIGHTS, withTransaction } from "../transaction.ts";
import { cancelOnAbort, streamRows } from "./stream-rows.ts";

/** A column of an answer. Its values are texts. */
export interface AnswerColumn {
  readonly name: string;
  /** The texts of the others are valid in JSON as they are, except for NaN and infinity. */
  readonly type: "text" | "numeric" | "boolean" | "jsonb";
}

/** Prints rows, whose values are texts: `add` each of them, then `end`. */
export interface RowPrinter {
  add(row: readonly (string | null)[]): void;
  end(): void;
}

export interface Question {
  /** One statement. `$1` and so on are its `values`. */
  readonly sql: string;
  readonly values?: readonly unknown[];
  readonly timeLimitMs: number;
  /** Called once, when the columns are known. */
  readonly openPrinter: (columns: readonly AnswerColumn[]) => RowPrinter;
  /** Called with what Postgres remarks, such as that the history does not reach back so far. */
  readonly onNotice?: (text: string) => void;
  /** Names the work of a statement of simcat's own: if that fails, the database is the cause. Absent if a user wrote the statement. */
  readonly operation?: string;
}

/**
 * Answers one question about the views, whose names need no schema. It cannot write: the transaction is read-only, has the
 * rights of the reader if this role may take them, and takes one statement, so none can end the transaction first.
 * @throws UsageError if Postgres refuses the statement or it takes too long, DatabaseError if the database fails
 */
export async function runQuery(pool: Pool, question: Question, signal: AbortSignal): Promise<void> {
  const { sql, values = [], timeLimitMs, openPrinter, onNotice = () => {}, operation } = question;
  let opened: RowPrinter | undefined;
  const printerOf = (fields: readonly pg.FieldDef[]) => {
    opened ??= openPrinter(fields.map(({ name, dataTypeID }) => ({ name, type: typeOf(dataTypeID) })));
    return opened;
  };
  const query = { text: sql, values: [...values], queryMode: "extended", rowMode: "array", types: ANSWER_TYPES };
  const hear = ({ message = "" }: { readonly message?: string | undefined }) => onNotice(message);
  const read = async (connection: Connection) => {
    await connection.query(
      `${TAKE_READER_RIGHTS}; SET LOCAL search_path = simcat_report, public; SET LOCAL client_min_messages = notice;
       SET LOCAL statement_timeout = ${Math.ceil(timeLimitMs)}`,
    );
    const work = () => streamRows<string[]>(connection, query, (row, fields) => printerOf(fields).add(row));
    const startedAt = performance.now();
    connection.on("notice", hear);
    return cancelOnAbort(pool, connection, work, signal)
      .catch((error: unknown) => {
        if (operation !== undefined) throw asDatabaseError(operation, error);
        throw toRefusal(error, question, performance.now() - startedAt);
      })
      .finally(() => connection.off("notice", hear));
  };
  const fields = await withTransaction(pool, { operation: operation ?? OPERATION, snapshot: true }, read, signal);
  if (fields.length === 0) throw new UsageError("the statement returns no rows", { hint: "write a SELECT" });
  printerOf(fields).end();
}

const OPERATION = "the query";

const { builtins } = pg.types;
const { INT2, INT4, INT8, FLOAT4, FLOAT8, NUMERIC } = builtins;

function typeOf(oid: number): AnswerColumn["type"] {
  if (oid === builtins.BOOL) return "boolean";
  if (oid === builtins.JSON || oid === builtins.JSONB) return "jsonb";
  return [INT2, INT4, INT8, FLOAT4, FLOAT8, NUMERIC].includes(oid) ? "numeric" : "text";
}

const ANSWER_TYPES = { getTypeParser: (oid: number) => (text: string) => toText(oid, text) };

/** Times as ISO 8601 in UTC, booleans as words, and JSON in one line; line breaks are only between its tokens. */
function toText(oid: number, text: string): string {
  switch (oid) {
    case builtins.BOOL:
      return text === "t" ? "true" : "false";
    case builtins.TIMESTAMP:
    case builtins.TIMESTAMPTZ:
      return text.replace(/^(\d+-\d\d-\d\d) ([\d:.]+)/, "$1T$2").replace(/\+00$/, "Z");
    case builtins.JSON:
      return text.replace(/[\r\n]+/g, " ");
    default:
      return text;
  }
}

/** Classes of SQLSTATEs that a statement does not cause: resources, the server's own system, a bug of the server. */
const SERVER_FAILURE = /^(53|57|58|XX)/;
const CANCELLED = "57014";
const PROTOCOL_VIOLATION = "08P01";
const SYNTAX_ERROR = "42601";

/**
 * A UsageError if the statement is the cause. Otherwise a DatabaseError, which nothing repeats: rows may have been printed. The
 * server's message may be in any language.
 */
export function toRefusal(error: unknown, { sql, timeLimitMs }: Pick<Question, "sql" | "timeLimitMs">, tookMs: number) {
  if (!(error instanceof pg.DatabaseError)) return asDatabaseError(OPERATION, error);
  const { code = "", message, hint, position, routine } = error;
  const refuse = (summary: string, hint: string | null) => new UsageError(summary, { hint, cause: error });
  if (routine === "exec_bind_message" && code === PROTOCOL_VIOLATION)
    return refuse("the query has parameters such as $1", "write their values");
  if (code === CANCELLED && tookMs >= timeLimitMs)
    return refuse(`the query took longer than ${formatLimit(timeLimitMs)}`, "--timeout allows up to 15m");
  if (SERVER_FAILURE.test(code) || isConnectionLost(error) || isContention(error))
    return asDatabaseError(OPERATION, error);
  const place = position === undefined ? "" : `, ${formatPlace(sql, Number(position))}`;
  const ownHint = routine === "exec_parse_message" && code === SYNTAX_ERROR ? "give one statement" : QUERY_HINTS[code];
  return refuse(`the query failed: ${message}${place} (${code})`, ownHint ?? hint ?? null);
}

/** By SQLSTATE. */
const QUERY_HINTS: Readonly<Record<string, string>> = {
  "25006": "simcat query only reads",
  "42501": "it takes the rights of simcat_reader where it can, which reads the views of simcat_report",
  "42P01":
    "docs/reference/views.md lists the views (they need USAGE on their schema), as does: SELECT viewname FROM pg_views WHERE schemaname = 'simcat_report'",
  "55000": "simcat query only reads",
};

/** `position` counts characters from 1. */
function formatPlace(sql: string, position: number): string {
  const before = [...sql].slice(0, position - 1);
  const column = before.length - before.lastIndexOf("\n");
  return `line ${before.filter((char) => char === "\n").length + 1}, column ${column}`;
}
