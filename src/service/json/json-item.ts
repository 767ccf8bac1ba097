import { DEEPEST } from "./json-text.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const LOWER_U = 0x75;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
/** A numeral of fewer digits is exact as a double. */
const EXACT_DIGITS = 15;

/** Where the scanning of one item stands. */
interface ItemState {
  bare: boolean;
  depth: number;
  quoted: boolean;
  /** The next byte is escaped. */
  escaped: boolean;
  /** Of the numeral that the chunk before ended in, its point included. */
  digits: number;
  /** So far: no long numeral, no exponent, no `\\u` escape, no deep nesting. Nothing else can make an item unfit to store. */
  plain: boolean;
}

export function openItem(): ItemState {
  return { bare: false, depth: 0, quoted: false, escaped: false, digits: 0, plain: true };
}

function isNumeral(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 0x30 && byte <= 0x39) || byte === 0x2e);
}

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Readies the state for an item that starts with this byte. */
export function beginItem(state: ItemState, first: number): void {
  state.bare = first !== OPEN_OBJECT && first !== OPEN_LIST && first !== QUOTE;
  state.depth = 0;
  state.quoted = false;
  state.escaped = false;
  state.digits = 0;
  state.plain = !state.bare;
}

/**
 * Index behind the item's last byte; -1 when the chunk, of one byte at least, ends before the item does. Counts
 * brackets and quotes, and on the way looks for what would have to be looked at closer, since to look for it in each
 * item's text took as long as `JSON.parse`, to which the rest is left. Locals, for a closure's variables were 2.6 times slower.
 */
export function scanItem(state: ItemState, chunk: Uint8Array, from: number): number {
  if (state.bare) return scanBare(chunk, from);
  const end = chunk.length;
  let { depth, quoted, digits, plain } = state;
  if (state.escaped && chunk[from] === LOWER_U) plain = false;
  let i = state.escaped ? from + 1 : from;
  let ended = false;
  while (i < end && !ended) {
    if (quoted) {
      while (i < end) {
        const byte = chunk[i];
        if (byte === QUOTE) break;
        if (byte === BACKSLASH && chunk[++i] === LOWER_U) plain = false;
        i++;
      }
      if (i >= end) break;
      quoted = false;
      i++;
      ended = depth === 0;
      continue;
    }
    const byte = chunk[i++];
    if (byte === QUOTE) quoted = true;
    else if (isNumeral(byte)) {
      if (++digits > EXACT_DIGITS) plain = false;
      continue;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      if (++depth > DEEPEST) plain = false;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) ended = --depth === 0;
    else if (digits > 0 && (byte === LOWER_E || byte === UPPER_E)) plain = false;
    digits = 0;
  }
  state.depth = depth;
  state.quoted = quoted;
  state.escaped = i > end;
  state.digits = digits;
  state.plain = plain;
  return ended ? i : -1;
}

/** A number or a keyword: ends before what may follow it. */
function scanBare(chunk: Uint8Array, from: number): number {
  for (let i = from; i < chunk.length; i++) {
    const byte = chunk[i] ?? 0;
    if (byte === COMMA || byte === CLOSE_LIST || isSpace(byte)) return i;
  }
  return -1;
}
