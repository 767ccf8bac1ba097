import type { Performed } from "./perform.ts";
import type { Seen } from "./reader.ts";

/** So many scenarios without a field that stored ones have are a change of the service. */
const TELLING_ITEMS = 20;
const hasName = (scenario: string) => scenario.includes('"scenarioName":');

/** Whether a run that was told of no name at all, by enough scenarios, left everything as it was. */
export function checkDrift(
  { heard, others, ended }: Performed,
  before: ReadonlyMap<string, Seen>,
  after: ReadonlyMap<string, Seen>,
): string[] {
  if (others.length > 0) return [];
  const read = [...heard.content].flatMap(([key, { metadata, scenarios }]) =>
    metadata?.kind === "metadata" && scenarios?.kind === "scenarios"
      ? [{ key, items: [...scenarios.items.values()] }]
      : [],
  );
  const items = read.flatMap((one) => one.items);
  const storedNames = [...before.values()].some(({ copy }) => [...copy.scenarios.values()].some(hasName));
  if (items.length < TELLING_ITEMS || items.some(hasName) || !storedNames) return [];
  const wrong = ended.status === "ok" ? [`drift: ${heard.run} said ok`] : [];
  for (const { key, items } of read) {
    const [old, now] = [before.get(key)?.copy.scenarios, after.get(key)?.copy.scenarios];
    if (items.length === 0 || old === undefined || now === undefined) continue;
    const lost = [...old].filter(([id, text]) => hasName(text) && !hasName(now.get(id) ?? ""));
    if (lost.length > 0) wrong.push(`drift: ${heard.run} overwrote ${lost.length} names of ${key}`);
  }
  return wrong;
}
