import type { Command } from "commander";
import { EXIT } from "../errors.ts";
import {
  type ActionRunner,
  createCommand,
  type JsonOptions,
  jsonOption,
  libraryOption,
  ownerOption,
} from "./command.ts";
import { type Context, outputWidth } from "./context.ts";

interface VerifyOptions extends JsonOptions {
  readonly library: readonly string[];
  readonly owner: readonly string[];
}

export function verifyCommand(run: ActionRunner): Command {
  return createCommand("verify", "compare the database with the service, scenario by scenario", "simcat verify")
    .addOption(libraryOption())
    .addOption(ownerOption())
    .addOption(jsonOption())
    .action(run(verify));
}

/** Exits with 0 if the database equals the service, otherwise with 2. Takes no lease and writes nothing. */
async function verify(context: Context, { library, owner, json }: VerifyOptions): Promise<number> {
  const { loadServiceSettings } = await import("./settings.ts");
  const { withDatabase, withService } = await import("./connections.ts");
  const { showProgress } = await import("./show-progress.ts");
  const { verifyStored } = await import("../verify/verify.ts");
  const { parseSelection } = await import("../sync/rules/selection.ts");
  const { createValueParsers } = await import("../sync/value-parsers.ts");
  const { formatVerify, toVerifyJson } = await import("../output/verify.ts");
  const { formatJson } = await import("../format.ts");

  const selection = parseSelection(library, owner);
  const settings = loadServiceSettings(context);
  const { progress, onServiceEvent } = showProgress(context, settings);
  const parsers = createValueParsers(settings.serviceTimezone);
  const report = await withDatabase(context, settings, "require", (pool, source) =>
    withService(context, settings, onServiceEvent, (service) =>
      verifyStored({ service, pool, source, parsers, onEvent: progress.event, settings }, selection, context.stop),
    ),
  ).finally(progress.end);
  const exitCode = report.agrees ? EXIT.ok : EXIT.partial;
  context.print(json ? formatJson(toVerifyJson(report, exitCode)) : formatVerify(report, outputWidth(context)));
  return exitCode;
}
