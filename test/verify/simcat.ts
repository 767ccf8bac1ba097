import { KEY } from "../mock/raw-client.ts";
import { callCli } from "../support/call-cli.ts";
import type { TestDatabase } from "../support/database.ts";
import type { MockService } from "../support/mock/server.ts";

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line of simcat's in this process, on this database and this service. */
export async function simcat(
  { database, service }: { readonly database: TestDatabase; readonly service?: MockService },
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  stop?: AbortSignal,
): Promise<Said> {
  const own = {
    DATABASE_URL: database.url,
    SIMCAT_MAX_RETRIES: "0",
    ...(service ? { SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: KEY } : {}),
  };
  const { code, stdout, stderr } = await callCli(args, { ...own, ...environment }, stop);
  return { code, out: stdout.replace(/\n$/, ""), err: stderr.replace(/\n$/, "") };
}

/** Every row of every table of simcat's with its version's place and maker: equal before and after when nothing was written. */
export async function fingerprintRows(database: TestDatabase): Promise<Record<string, string>> {
  const tables = await database.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'simcat' AND table_type = 'BASE TABLE' ORDER BY 1",
  );
  const prints: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await database.query<{ print: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(concat_ws(' ', ctid, xmin, xmax, t::text), E'\\n' ORDER BY ctid)), '') AS print
       FROM simcat.${name} t`,
    );
    prints[name] = row?.print ?? "";
  }
  return prints;
}
