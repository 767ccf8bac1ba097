/** Controls, bidirectional marks, line and paragraph separators, lone surrogates: whatever could forge a line or an escape. */
const HOSTILE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Text from elsewhere, safe in a terminal or a log line: what could act is shown as `\uXXXX`. */
export function printable(text: string): string {
  return text.replace(HOSTILE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** As `printable`, for texts of our own that have lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
