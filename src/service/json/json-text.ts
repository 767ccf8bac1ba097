const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Nesting beyond this is refused: it serves nobody, and what recurses over JSON has a stack to lose. */
export const DEEPEST = 500;

/** Index after the string that opens at `open`, in text that `JSON.parse` accepts. */
export function endOfString(source: string, open: number): number {
  let i = open + 1;
  while (i < source.length && source.charCodeAt(i) !== QUOTE) i += source.charCodeAt(i) === BACKSLASH ? 2 : 1;
  return i + 1;
}

/** Whether brackets open that often in the text, in strings or not. */
function opensOften(count: number, source: string): boolean {
  let found = 0;
  for (const bracket of ["{", "["]) {
    for (let at = source.indexOf(bracket); at !== -1; at = source.indexOf(bracket, at + 1)) {
      if (++found === count) return true;
    }
  }
  return false;
}

/** Whether the text nests deeper than `limit` objects and lists. */
export function isDeeperThan(limit: number, source: string): boolean {
  if (source.length <= 2 * limit || !opensOften(limit + 1, source)) return false;
  let depth = 0;
  let i = 0;
  while (i < source.length) {
    const code = source.charCodeAt(i);
    if (code === QUOTE) {
      i = endOfString(source, i);
      continue;
    }
    // `[` and `{` differ from each other in this one bit, as do `]` and `}`.
    if ((code | 0x20) === 0x7b) depth++;
    else if ((code | 0x20) === 0x7d) depth--;
    if (depth > limit) return true;
    i++;
  }
  return false;
}
