interface StringArena {
  /** Returns the index of the text; indexes count from zero. */
  add(text: string): number;
  at(index: number): string;
}

const PAGE_BYTES = 2 ** 20;
/** One UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Three numbers per text: page, start offset, end offset (exclusive). */
const NUMBERS_PER_TEXT = 3;

/** Keeps well-formed texts as bytes outside of the heap, where the garbage collector neither scans nor moves them. */
export function createStringArena(): StringArena {
  const pages: Buffer[] = [];
  let positions = new Uint32Array(NUMBERS_PER_TEXT * 1024);
  let count = 0;
  let page = Buffer.alloc(0);
  let usedBytes = 0;

  return {
    add(text) {
      const maxBytes = text.length * MAX_BYTES_PER_UNIT;
      if (usedBytes + maxBytes > page.length) {
        page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, maxBytes));
        pages.push(page);
        usedBytes = 0;
      }
      const position = count * NUMBERS_PER_TEXT;
      if (position === positions.length) {
        const oldPositions = positions;
        positions = new Uint32Array(oldPositions.length * 2);
        positions.set(oldPositions);
      }
      positions[position] = pages.length - 1;
      positions[position + 1] = usedBytes;
      usedBytes += page.write(text, usedBytes);
      positions[position + 2] = usedBytes;
      return count++;
    },
    at(index) {
      const position = index * NUMBERS_PER_TEXT;
      const [pageIndex = 0, start, end] = positions.subarray(position, position + NUMBERS_PER_TEXT);
      const found = pages[pageIndex];
      if (found === undefined) throw new RangeError(`the arena has no text ${index}`);
      return found.toString("utf8", start, end);
    },
  };
}
