import { MalformedJson } from "../json/malformed-json.ts";

/** An item that is not JSON spoils the whole answer: nobody knows what its sender meant. `index` counts from zero. */
export function parseItem(source: string, index: number): unknown {
  try {
    return JSON.parse(source);
  } catch {
    // The parser's own message quotes the payload.
    throw new MalformedJson(`item ${index + 1} of the list is not well-formed JSON`);
  }
}
