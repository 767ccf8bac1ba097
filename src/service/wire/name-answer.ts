import { firstBadByte, isCutSequence } from "../json/utf8.ts";

/** As much of an answer as it takes to tell what it is. */
export const HEAD = 4096;

/** What an answer is, judged by its first bytes (cut anywhere), in words for an error message. */
export function nameAnswer(head: Buffer): string {
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
