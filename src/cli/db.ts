import { aborted } from "../async.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { openEmbedded } from "./connections.ts";
import { type Context, printJson, printText } from "./context.ts";
import { loadSettings } from "./load-settings.ts";

export const defineDb: DefineCommand = (command, run) => command.addOption(jsonOption()).action(run(db));

/** Prints the password of simcat_reader in the embedded database, because people need it for psql and BI tools. */
async function db(context: Context, { json }: JsonOptions): Promise<void> {
  const embedded = await openEmbedded(context, loadSettings(context, { service: false, database: false }));
  try {
    const { readerUrl: url, psql, dataDirectory, started } = embedded;
    const { hostname: host, port, username: user, password, pathname } = new URL(url);
    const database = pathname.slice(1);
    const data = { url, host, port: Number(port), user, password, database, data_directory: dataDirectory };
    const lines = [
      `the embedded Postgres ${started ? "is running" : "was running already; this keeps it running"} (data in ${dataDirectory})`,
      `  ${psql}`,
      `for a BI tool: host ${host}, port ${port}, database ${database}, user ${user}, password ${password}`,
      `as a URL: ${url}`,
      "this role reads the views of schema simcat_report; Ctrl-C stops the server unless another simcat uses it",
      "it is for trials: its OpenSSL is of 2018",
    ];
    if (json) printJson(context, data);
    else printText(context, lines.join("\n"));
    await aborted(context.stop);
  } finally {
    await embedded.stop();
  }
}
