const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Deeper nesting is rejected, because code that recurses over JSON could overflow its stack. */
export const MAX_DEPTH = 500;

/** Returns the index after the string that opens at `open`, in text that `JSON.parse` accepts. */
export function endOfString(source: string, open: number): number {
  let i = open + 1;
  while (i < source.length && source.charCodeAt(i) !== QUOTE) i += source.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** True if the text has at least this number of opening brackets, in strings or not. */
function hasOpeningBrackets(count: number, source: string): boolean {
  let found = 0;
  for (const bracket of ["{", "["]) {
    for (let i = source.indexOf(bracket); i !== -1; i = source.indexOf(bracket, i + 1)) {
      if (++found === count) return true;
    }
  }
  return false;
}

/** True if the text nests deeper than `limit` objects and lists. */
export function isDeeperThan(limit: number, source: string): boolean {
  if (source.length <= 2 * limit || !hasOpeningBrackets(limit + 1, source)) return false;
  let depth = 0;
  let i = 0;
  while (i < source.length) {
    const code = source.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(source, i);
      continue;
    }
    // `[` and `{` differ only in this one bit, as do `]` and `}`.
    if ((code | 0x20) === 0x7b) depth++;
    else if ((code | 0x20) === 0x7d) depth--;
    if (depth > limit) return true;
    i++;
  }
  return false;
}
