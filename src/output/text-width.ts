const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Characters that take two columns of a terminal: scripts of East Asia, full-width forms, emoji. */
const WIDE =
  /^(?:[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation})|\ufe0f/u;
/** Characters that take no column. */
const EMPTY = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** The number of terminal columns that the text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** The text, cut to this width and ended with a … if it is wider. */
export function truncate(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let left = columns - 1;
  for (const { segment } of GRAPHEMES.segment(text)) {
    left -= widthOfGrapheme(segment);
    if (left < 0) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : "";
}

function widthOfGrapheme(grapheme: string): number {
  if (EMPTY.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
