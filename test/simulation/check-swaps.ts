import type { Performed } from "./perform.ts";
import { keyOf } from "./reader.ts";

/** Whether only libraries failed as mismatched of which another one's answers were sent; that none was stored, the ledger knows. */
export function checkSwaps({ heard, ended }: Performed): string[] {
  const failures = ended.report?.failures ?? [];
  return failures
    .filter(({ code, key }) => code === "mismatched" && !heard.swapped.has(keyOf(key.owner, key.name)))
    .map(({ key }) => `swaps: ${heard.run} took the answers for ${key.owner}/${key.name} for another library's`);
}
