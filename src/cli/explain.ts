import { type LibraryRows, readLibrary } from "../db/read/read-library.ts";
import { EXIT, UsageError } from "../errors.ts";
import { formatKey, parseKey } from "../key.ts";
import { printable } from "../printable.ts";
import { formatExplanation } from "../report/explain.ts";
import { toExplanationJson } from "../report/explain-json.ts";
import { formatJson } from "../report/json.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";

/** Why one library was or will be read or not. @throws UsageError when nobody knows it */
export async function explain(
  context: Context,
  { json }: { readonly json: boolean },
  library: string,
): Promise<number> {
  const key = parseKey(library);
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", (pool) => readLibrary(pool, key, context.stop));
  if (!isKnown(rows)) {
    throw new UsageError(`${printable(formatKey(key))} is not known here: no listing ever named it; see simcat status`);
  }
  const { fullEveryMs } = config;
  context.print(json ? formatJson(toExplanationJson(rows, fullEveryMs)) : formatExplanation(rows, fullEveryMs));
  return EXIT.ok;
}

function isKnown({ stored, rejects }: LibraryRows): boolean {
  return stored !== null || rejects.open + rejects.resolved > 0;
}
