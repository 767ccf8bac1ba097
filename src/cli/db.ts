import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import type { Context } from "./context.ts";
import { openEmbedded } from "./embedded.ts";
import { loadSettings } from "./settings.ts";
import { untilStopped } from "./until-stopped.ts";

/** The embedded Postgres, kept up for psql and BI tools. What it prints holds its password: that is what it is for. */
export async function db(context: Context, { json }: { readonly json: boolean }): Promise<number> {
  const embedded = await openEmbedded(context, loadSettings(context, { service: false, database: false }));
  try {
    const { url, psql, dataDirectory } = embedded;
    const { hostname, port, username, password, pathname } = new URL(url);
    const database = pathname.slice(1);
    if (json)
      context.print(
        formatJson({
          url,
          host: hostname,
          port: Number(port),
          user: username,
          password,
          database,
          data_directory: dataDirectory,
        }),
      );
    else {
      context.print(
        [
          `the embedded Postgres is ${embedded.started ? "up" : "up already; this keeps it up"} (data in ${dataDirectory})`,
          `  ${psql}`,
          `for a BI tool: host ${hostname}, port ${port}, database ${database}, user ${username}, password ${password}`,
          `as a URL: ${url}`,
          "views for people are in schema simcat_report, the tables in simcat; Ctrl-C ends it",
        ].join("\n"),
      );
    }
    await untilStopped(context);
  } finally {
    await embedded.stop();
  }
  return EXIT.ok;
}
