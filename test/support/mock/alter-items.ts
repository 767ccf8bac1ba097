import { type HttpAnswer, withItems } from "./answer.ts";
import type { AlterItem } from "./faults.ts";

/** @throws if the answer has no items. Otherwise such a fault would have no effect, and its test would prove nothing */
function itemsOf(answer: HttpAnswer): readonly string[] {
  if (answer.items === null) throw new Error("this answer has no items to alter");
  return answer.items();
}

/** Omits `count` items from position `from`. */
export function dropItems(answer: HttpAnswer, from: number, count: number): HttpAnswer {
  const items = itemsOf(answer);
  return withItems(
    answer,
    items.filter((_, index) => index < from || index >= from + count),
  );
}

/** Changes one item or all of them. */
export function alterItem(answer: HttpAnswer, change: AlterItem): HttpAnswer {
  const items = itemsOf(answer);
  if (change.index === "all") {
    return withItems(
      answer,
      items.map((item) => alterSource(item, change)),
    );
  }
  const index = positionOf(items, change.index);
  return withItems(answer, items.with(index, alterSource(items[index] ?? "{}", change)));
}

/** Repeats an item at the end of the list, with the changes of `set`. */
export function duplicateItem(answer: HttpAnswer, index: number, set: AlterItem["set"]): HttpAnswer {
  const items = itemsOf(answer);
  const item = items[positionOf(items, index)] ?? "{}";
  return withItems(answer, [...items, set === undefined ? item : alterSource(item, { set })]);
}

function positionOf(items: readonly string[], index: number): number {
  const position = index < 0 ? items.length + index : index;
  if (position < 0 || position >= items.length) throw new Error(`the answer has no item ${index}`);
  return position;
}

/** Changed fields keep their position, new ones are appended. */
function alterSource(source: string, change: Omit<AlterItem, "kind" | "index">): string {
  if (change.source !== undefined) return change.source;
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(JSON.parse(source))) fields.set(name, JSON.stringify(value));
  for (const [name, value] of Object.entries(change.set ?? {})) fields.set(name, JSON.stringify(value));
  for (const [name, text] of Object.entries(change.setSource ?? {})) fields.set(name, text);
  for (const name of change.remove ?? []) fields.delete(name);
  return `{${Array.from(fields, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}
