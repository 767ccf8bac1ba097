import type { Command } from "commander";
import { EXIT } from "../errors.ts";
import { parseKey } from "../key.ts";
import { type ActionRunner, createCommand, type JsonOptions, jsonOption } from "./command.ts";
import type { Context } from "./context.ts";

export function explainCommand(run: ActionRunner): Command {
  const example = "simcat explain example.user/helloworldCourse";
  return createCommand("explain", "explain why the next run will read or skip a library", example)
    .argument("<OWNER/NAME>", "the library; write % and / in a part as %25 and %2F")
    .addOption(jsonOption())
    .action(run(explain));
}

/** @throws UsageError if the library is not stored and no run has listed it */
export async function explain(context: Context, { json }: JsonOptions, library: string): Promise<number> {
  const { loadSettings } = await import("./settings.ts");
  const { withDatabase } = await import("./connections.ts");
  const { readLibraryRecord } = await import("../db/read/read-library-record.ts");
  const { assertKnown } = await import("../sync/assert-known.ts");
  const { withSeenAt } = await import("../sync/rules/settle.ts");
  const { formatExplanation, toExplanationJson } = await import("../output/explain.ts");
  const { formatJson } = await import("../format.ts");

  const key = parseKey(library);
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", async (pool, source) => {
    await assertKnown({ libraries: [key], owners: [] }, { listing: null, pool, source }, context.stop);
    const record = await readLibraryRecord(pool, source, key, context.stop);
    return source === "tables" || record.stored === null ? record : { ...record, stored: withSeenAt(record.stored) };
  });
  const { fullEveryMs } = config;
  context.print(json ? formatJson(toExplanationJson(rows, fullEveryMs)) : formatExplanation(rows, fullEveryMs));
  return EXIT.ok;
}
