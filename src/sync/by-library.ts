import { keyText } from "../key.ts";
import type { Reject } from "../model.ts";

type Some = readonly [Reject, ...Reject[]];

/** Rejects gathered by the library that they belong to; those of none together. */
export function byLibrary(rejects: readonly Reject[]): Some[] {
  const groups = new Map<string, [Reject, ...Reject[]]>();
  for (const reject of rejects) {
    const text = reject.key === null ? "" : keyText(reject.key);
    const group = groups.get(text);
    if (group) group.push(reject);
    else groups.set(text, [reject]);
  }
  return [...groups.values()];
}
