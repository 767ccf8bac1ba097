import { firstBadByte, isCutSequence } from "../json/utf8.ts";

/** The number of bytes that `describeResponse` needs. */
export const SNIFF_BYTES = 4096;

/** Describes a response by its first bytes, for an error message: `an HTML page`. The bytes may be cut anywhere. */
export function describeResponse(head: Buffer): string {
  const text = head
    .toString("utf8")
    .replace(/^[ \t\r\n]+/, "")
    .trimEnd();
  if (text.startsWith("<")) return "an HTML page";
  if (text.startsWith("{")) return "an object";
  if (text.startsWith("[")) return "a list";
  if (text.startsWith('"')) return "a string";
  if (text === "null") return "null";
  if (text === "true" || text === "false") return "a boolean";
  if (/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return "a number";
  const bad = firstBadByte(head);
  return bad === -1 || isCutSequence(head, bad) ? "plain text" : `not UTF-8 at byte ${bad}`;
}
