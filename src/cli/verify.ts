import { EXIT } from "../errors.ts";
import { formatVerify, toVerifyJson } from "../output/verify.ts";
import { createValueParsers } from "../parse-values.ts";
import { parseSelection } from "../sync/rules/selection.ts";
import { verifyStored } from "../verify/verify-stored.ts";
import { type DefineCommand, jsonOption, libraryOption, ownerOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, outputLook, printJson, printResult } from "./context.ts";
import { loadSettings, type SelectionOptions } from "./load-settings.ts";
import { withWatchedService } from "./show-progress.ts";

export const defineVerify: DefineCommand = (command, run) =>
  command.addOption(libraryOption()).addOption(ownerOption()).addOption(jsonOption()).action(run(verify));

/** Exits with 0 if the database equals the service, otherwise with 2. Takes no lease and writes nothing. */
async function verify(context: Context, { library, owner, json }: SelectionOptions): Promise<number> {
  const selection = parseSelection(library, owner);
  const settings = loadSettings(context, { service: true, database: true, whole: true });
  const parsers = createValueParsers(settings.serviceTimezone);
  const result = await withDatabase(context, settings, "require", (pool, source) =>
    withWatchedService(context, settings, (service, onEvent) =>
      verifyStored({ service, pool, source, parsers, onEvent, settings }, selection, context.stop),
    ),
  );
  const exitCode = result.agrees ? EXIT.ok : EXIT.partial;
  if (json) printJson(context, toVerifyJson(result, exitCode));
  else printResult(context, result.agrees && result.cachedMs === 0, formatVerify(result, outputLook(context)));
  return exitCode;
}
