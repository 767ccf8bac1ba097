import { migrate as applyMigrations } from "../db/migrate.ts";
import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";
import { printWaits, withDatabaseUrls } from "./with-database.ts";

export async function migrate(context: Context, { json }: { readonly json: boolean }): Promise<number> {
  const config = loadSettings(context, { service: false, database: true });
  const applied = await withDatabaseUrls(context, config, ({ directUrl }) =>
    applyMigrations(directUrl, context.stop, { onWait: printWaits(context, config) }),
  );
  if (json) context.print(formatJson({ applied }));
  else
    context.print(
      applied === 0
        ? "the schema is up to date"
        : `applied ${applied} of simcat's migrations; the schema is up to date`,
    );
  return EXIT.ok;
}
