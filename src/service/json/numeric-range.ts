/** What Postgres' `numeric`, and with it jsonb, holds before and after the point, and the exponents that it reads. */
export const DIGITS_BEFORE = 131_072;
export const DIGITS_AFTER = 16_383;
const EXPONENT = 1_073_741_822;

/** Whether a text can hold a numeral that does not fit: it needs the room, or an exponent of three digits. */
export function mayExceedNumeric(source: string): boolean {
  return source.length > DIGITS_AFTER || /\d[eE][+-]?\d{3}/.test(source);
}

export function fitsNumeric(numeral: string): boolean {
  const match = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(numeral);
  if (match === null) return false;
  const [, whole = "", fraction = "", power = "0"] = match;
  const exponent = Number(power);
  if (Math.abs(exponent) > EXPONENT) return false;
  if (fraction.length - exponent > DIGITS_AFTER) return false;
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first++;
  return first === digits.length || whole.length - first + exponent <= DIGITS_BEFORE;
}
