import { readLibraryRecord } from "../db/read/read-library-record.ts";
import { parseSelector } from "../key.ts";
import { formatExplanation, toExplanationJson } from "../output/explanation.ts";
import { assertKnown } from "../sync/assert-known.ts";
import { withSeenAt } from "../sync/rules/settle.ts";
import { type DefineCommand, type JsonOptions, jsonOption } from "./command.ts";
import { withDatabase } from "./connections.ts";
import { type Context, printJson, printText } from "./context.ts";
import { loadSettings } from "./load-settings.ts";

export const defineExplain: DefineCommand = (command, run) =>
  command
    .argument(
      "<OWNER/NAME>",
      "the library, or its NAME if only one owner has it; write % and / in a part as %25 and %2F",
    )
    .addOption(jsonOption())
    .action(run(explain));

/** @throws UsageError if the library is neither stored nor recorded as listed */
export async function explain(context: Context, { json }: JsonOptions, library: string): Promise<void> {
  const asked = parseSelector(library);
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", async (pool, source) => {
    const selection = { libraries: [asked], owners: [] };
    const { libraries } = await assertKnown(selection, { listing: null, pool, source }, context.stop);
    const [key = asked] = libraries;
    const record = await readLibraryRecord(pool, source, key, context.stop);
    return source === "tables" || record.stored === null ? record : { ...record, stored: withSeenAt(record.stored) };
  });
  const { fullEveryMs } = config;
  if (json) printJson(context, toExplanationJson(rows, fullEveryMs));
  else printText(context, formatExplanation(rows, fullEveryMs));
}
