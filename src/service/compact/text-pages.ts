export interface TextPages {
  /** Answers the number under which the text is kept; they count from zero. */
  add(text: string): number;
  text(at: number): string;
}

const PAGE_BYTES = 2 ** 20;
/** A unit of UTF-16 becomes three bytes of UTF-8 at the most. */
const MOST_BYTES = 3;
/** Of each text: its page, its first byte, and the one behind its last. */
const NUMBERS = 3;

/** Keeps well-formed texts as bytes outside of the heap, where the collector of garbage neither walks nor moves them. */
export function openTextPages(): TextPages {
  const pages: Buffer[] = [];
  let places = new Uint32Array(NUMBERS * 1024);
  let count = 0;
  let page = Buffer.alloc(0);
  let used = 0;

  return {
    add(text) {
      const most = text.length * MOST_BYTES;
      if (used + most > page.length) {
        page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, most));
        pages.push(page);
        used = 0;
      }
      const at = count * NUMBERS;
      if (at === places.length) places = grown(places);
      places[at] = pages.length - 1;
      places[at + 1] = used;
      used += page.write(text, used);
      places[at + 2] = used;
      return count++;
    },
    text(at) {
      const [number = 0, start, end] = places.subarray(at * NUMBERS, (at + 1) * NUMBERS);
      return pages[number]?.toString("utf8", start, end) ?? "";
    },
  };
}

function grown(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(numbers.length * 2);
  more.set(numbers);
  return more;
}
