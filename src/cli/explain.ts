import { readLibrary } from "../db/read/read-library.ts";
import { EXIT } from "../errors.ts";
import { formatJson } from "../format.ts";
import { parseKey } from "../key.ts";
import { formatExplanation, toExplanationJson } from "../report/explain.ts";
import { assertKnown } from "../sync/assert-known.ts";
import type { Context } from "./context.ts";
import { loadSettings } from "./settings.ts";
import { withDatabase } from "./with-database.ts";

/** Why one library was or will be read or not. @throws UsageError when it was never listed nor stored */
export async function explain(
  context: Context,
  { json }: { readonly json: boolean },
  library: string,
): Promise<number> {
  const key = parseKey(library);
  const config = loadSettings(context, { service: false, database: true });
  const rows = await withDatabase(context, config, "require", async (pool) => {
    await assertKnown({ libraries: [key], owners: [] }, { listing: null, pool }, context.stop);
    return readLibrary(pool, key, context.stop);
  });
  const { fullEveryMs } = config;
  context.print(json ? formatJson(toExplanationJson(rows, fullEveryMs)) : formatExplanation(rows, fullEveryMs));
  return EXIT.ok;
}
