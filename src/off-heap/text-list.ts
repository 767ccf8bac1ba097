interface TextList<T> {
  /** Returns the index of the new item. */
  add(source: string): number;
  at(index: number): T;
}

const PAGE_BYTES = 2 ** 20;
/** One UTF-16 code unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Three numbers per text: page, start offset, end offset (exclusive). */
const NUMBERS_PER_TEXT = 3;

/**
 * A list that keeps the source texts of its items, and parses one whenever it is needed. The texts, which must be well-formed, are bytes
 * outside of the heap, where the garbage collector neither scans nor moves them.
 */
export function createTextList<T>(parse: (source: string) => T): TextList<T> {
  const pages: Buffer[] = [];
  let positions = new Uint32Array(NUMBERS_PER_TEXT * 16);
  let length = 0;
  let page = Buffer.alloc(0);
  let usedBytes = 0;

  return {
    add(source) {
      const maxBytes = source.length * MAX_BYTES_PER_UNIT;
      if (pages.length === 0 || usedBytes + maxBytes > page.length) {
        page = Buffer.allocUnsafeSlow(Math.max(PAGE_BYTES, maxBytes));
        pages.push(page);
        usedBytes = 0;
      }
      const position = length * NUMBERS_PER_TEXT;
      if (position === positions.length) {
        const oldPositions = positions;
        positions = new Uint32Array(oldPositions.length * 2);
        positions.set(oldPositions);
      }
      positions[position] = pages.length - 1;
      positions[position + 1] = usedBytes;
      usedBytes += page.write(source, usedBytes);
      positions[position + 2] = usedBytes;
      return length++;
    },
    at(index) {
      const position = index * NUMBERS_PER_TEXT;
      const [pageIndex = 0, start, end] = positions.subarray(position, position + NUMBERS_PER_TEXT);
      const found = pages[pageIndex];
      if (index >= length || found === undefined) throw new RangeError(`the list has no item ${index}`);
      return parse(found.toString("utf8", start, end));
    },
  };
}
