import type { Command } from "commander";
import { EXIT } from "../errors.ts";
import { type ActionRunner, createCommand, type JsonOptions, jsonOption } from "./command.ts";
import type { Context } from "./context.ts";

export function migrateCommand(run: ActionRunner): Command {
  return createCommand("migrate", "update the database schema", "simcat migrate")
    .addOption(jsonOption())
    .action(run(updateSchema));
}

async function updateSchema(context: Context, { json }: JsonOptions): Promise<number> {
  const { loadSettings } = await import("./settings.ts");
  const { printWaits, withDatabaseUrls } = await import("./connections.ts");
  const { migrate } = await import("../db/migrate.ts");
  const { formatJson } = await import("../format.ts");

  const config = loadSettings(context, { service: false, database: true });
  const { applied, recreated } = await withDatabaseUrls(context, config, ({ directUrl }) =>
    migrate(directUrl, context.stop, { onWait: printWaits(context, config) }),
  );
  if (json) {
    context.print(formatJson({ applied, recreated }));
    return EXIT.ok;
  }
  if (recreated.length > 0) {
    context.print(`created again, because they were missing: ${recreated.join(", ")}`);
    context.print("if you use the roles of deploy/roles.sql, run it again");
  }
  const done = applied === 0 ? "" : `applied ${applied} of simcat's migrations; `;
  context.print(`${done}the schema is up to date`);
  return EXIT.ok;
}
