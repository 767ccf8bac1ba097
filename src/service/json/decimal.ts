const NUMERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** The number that a JSON numeral spells, the same for each of its spellings: `digits` × 10 ^ `exponent`. */
export class Decimal {
  /** With its sign, without zeros at either end; empty for zero. */
  readonly digits: string;
  /** Exact up to 2^53; nothing beyond a billion can be stored. */
  readonly exponent: number;

  constructor(numeral: string) {
    const [, sign = "", whole = "", fraction = "", power = "0"] = NUMERAL.exec(numeral) ?? [];
    const digits = whole + fraction;
    let first = 0;
    let end = digits.length;
    while (digits[first] === "0") first++;
    while (end > first && digits[end - 1] === "0") end--;
    this.digits = first === end ? "" : sign + digits.slice(first, end);
    this.exponent = first === end ? 0 : Number(power) + whole.length - end;
  }
}
