import { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { type Connection, oneRow, type Pool } from "./connect.ts";

/** A server and the session on it. */
export interface Server {
  /** As Postgres counts: 180004 is 18.4. */
  readonly versionNumber: number;
  readonly version: string;
  readonly database: string;
  readonly role: string;
  readonly encoding: string;
  /** True on a standby, and in a session that may not write. */
  readonly readOnly: boolean;
  /** The start of the server, in seconds; two servers differ in it. */
  readonly startedAt: string;
}

export async function readServer(connection: Connection | Pool): Promise<Server> {
  const result = await connection.query<Server>(
    `SELECT current_setting('server_version_num')::int AS "versionNumber", current_setting('server_version') AS version,
       current_database() AS database, current_user AS role, current_setting('server_encoding') AS encoding,
       current_setting('transaction_read_only') = 'on' AS "readOnly",
       extract(epoch FROM pg_postmaster_start_time())::text AS "startedAt"`,
  );
  return oneRow(result);
}

/** The IP address of the server if the connection is not encrypted. Null if it is, or if it is a Unix-domain socket. */
export function unencryptedAddress({ connection: { stream } }: Pick<Connection, "connection">): string | null {
  return stream instanceof Socket && !(stream instanceof TLSSocket) ? (stream.remoteAddress ?? null) : null;
}
