import { migrate } from "../db/migrate.ts";
import { plural } from "../format.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { announceWaits, withDatabaseUrls } from "./connections.ts";
import { type Context, printJson, printResult, printText } from "./context.ts";
import { loadSettings } from "./load-settings.ts";

export const defineMigrate: DefineCommand = (command, run) => command.addOption(jsonOption()).action(run(updateSchema));

async function updateSchema(context: Context, { json }: JsonOptions): Promise<void> {
  const config = loadSettings(context, { service: false, database: true });
  const { applied, recreated } = await withDatabaseUrls(context, config, ({ directUrl }) =>
    migrate(directUrl, context.stop, announceWaits(context, config)),
  );
  if (json) return printJson(context, { applied, recreated });
  if (recreated.length > 0) {
    const again = "if you use the roles of deploy/roles.sql, run it again";
    printText(context, `created again, because they were missing: ${recreated.join(", ")}\n${again}`);
  }
  const done = applied === 0 ? "" : `applied ${plural(applied, "migration")}; `;
  printResult(context, applied === 0, `${done}the schema is up to date`);
}
