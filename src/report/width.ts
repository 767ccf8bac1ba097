const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** What terminals give two columns: scripts of East Asia, full-width forms, emoji. */
const WIDE =
  /^(?:[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation})|\ufe0f/u;
/** What takes no room of its own. */
const EMPTY = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** How many columns of a terminal the text takes. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** The text, or as much of it as fits with a … behind it. */
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
