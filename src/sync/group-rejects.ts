import { keyText } from "../key.ts";
import type { Reject } from "../model.ts";

type Group = readonly [Reject, ...Reject[]];

/** Groups rejects by their library; those of no library form one group. `Map.groupBy` needs Node 21. */
export function groupRejects(rejects: readonly Reject[]): Group[] {
  const groups = new Map<string, [Reject, ...Reject[]]>();
  for (const reject of rejects) {
    const text = reject.key === null ? "" : keyText(reject.key);
    const group = groups.get(text);
    if (group) group.push(reject);
    else groups.set(text, [reject]);
  }
  return [...groups.values()];
}
