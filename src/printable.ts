/** Controls, bidirectional marks, line and paragraph separators: characters that could forge a line or an escape. For a RegExp. */
export const HOSTILE = "\\p{Cc}\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\ufeff";

const HOSTILE_OR_LONE_SURROGATE = new RegExp(`[${HOSTILE}\\p{Cs}]`, "gu");

/** Makes text from outside safe for a terminal or a log line: such characters are shown as `\uXXXX`. */
export function printable(text: string): string {
  return text.replace(HOSTILE_OR_LONE_SURROGATE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same for a text of simcat itself, whose line ends stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
