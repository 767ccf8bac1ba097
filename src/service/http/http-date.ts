const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `Sun, 06 Nov 1994 08:49:37 GMT`, and the two forms that a recipient must still read (RFC 9110, 5.6.7). */
const FORMS = [
  /^\w{3}, (?<day>\d{2}) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^\w{6,9}, (?<day>\d{2})-(?<month>\w{3})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/** A year of two digits that would lie more than fifty years ahead is one of the past. */
function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}

/** Milliseconds since the epoch; null for what is no HTTP date. `Date.parse` takes too much, and one form as local time. */
export function parseHttpDate(text: string, now: number): number | null {
  for (const form of FORMS) {
    const { day = "", month = "", year = "", time = "" } = form.exec(text.trim())?.groups ?? {};
    const index = MONTHS.indexOf(month);
    if (index === -1) continue;
    const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
    const date = new Date(Date.UTC(fullYear(year, now), index, Number(day), hours, minutes, seconds));
    return hours < 24 && minutes < 60 && seconds < 61 && date.getUTCMonth() === index ? date.getTime() : null;
  }
  return null;
}
