const SUSPECT = /\\u(?:0000|[dD][89a-fA-F])/;
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/g;

/**
 * Whether well-formed JSON text escapes a NUL or half of a surrogate pair anywhere, which Postgres takes neither in
 * text nor in jsonb. Reads the text and not the values, for jsonb refuses it even under a key that a later one overrides.
 */
export function escapesBadText(source: string): boolean {
  if (!SUSPECT.test(source)) return false;
  let highEnds = -1;
  for (const match of source.matchAll(ESCAPE)) {
    const unit = match[1] === undefined ? -1 : Number.parseInt(match[1], 16);
    const completes = unit >= 0xdc00 && unit <= 0xdfff;
    if (completes !== (highEnds === match.index)) return true;
    if (unit === 0) return true;
    highEnds = unit >= 0xd800 && unit <= 0xdbff ? match.index + match[0].length : -1;
    // A high half at the end of its string is followed by no escape that could complete it.
    if (highEnds !== -1 && source[highEnds] !== "\\") return true;
  }
  return false;
}

export function isBadText(text: string): boolean {
  return text.includes("\u0000") || !text.isWellFormed();
}
