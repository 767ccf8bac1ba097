import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import {
  createTimeZone,
  createValueParsers,
  latestInstant,
  parseDate,
  precisionOf,
  sameMoment,
  UTC,
} from "../../src/parse-values.ts";

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;

/** The meaning of a text in UTC: its moment, its grain and whether it states a zone. */
function reading(text: string, timeZone = "UTC") {
  const date = parseDate(text, createTimeZone(timeZone));
  return date === null ? null : [new Date(date.at).toISOString(), date.precisionMs, date.offsetMs !== null];
}

test.each([
  ["2023-09-11 at 2:56 PM", "2023-09-11T14:56:00.000Z", MINUTE, false],
  ["2023-09-11 at 02:56 pm", "2023-09-11T14:56:00.000Z", MINUTE, false],
  ["2023-09-11 at 2:56\u202fPM", "2023-09-11T14:56:00.000Z", MINUTE, false],
  ["2023-09-11 at 2:56 AM", "2023-09-11T02:56:00.000Z", MINUTE, false],
  ["2023-09-11 at 2:00 PM", "2023-09-11T14:00:00.000Z", HOUR, false],
  ["2023-09-11 at 12:00 AM", "2023-09-11T00:00:00.000Z", DAY, false],
  ["2023-09-11 at 12:05 AM", "2023-09-11T00:05:00.000Z", MINUTE, false],
  ["2023-09-11 at 12:05 PM", "2023-09-11T12:05:00.000Z", MINUTE, false],
  ["2025-04-07T14:16:12.997Z", "2025-04-07T14:16:12.997Z", 1, true],
  ["2025-04-07T14:16:12Z", "2025-04-07T14:16:12.000Z", SECOND, true],
  ["2025-04-07t14:16z", "2025-04-07T14:16:00.000Z", MINUTE, true],
  ["2025-04-07 14:16:12+02:00", "2025-04-07T12:16:12.000Z", SECOND, true],
  ["2025-04-07 14:16:12-0330", "2025-04-07T17:46:12.000Z", SECOND, true],
  ["2025-04-07 14:16:12 +02", "2025-04-07T12:16:12.000Z", SECOND, true],
  ["2024-09-19 15:24:41.3994461", "2024-09-19T15:24:41.399Z", 1, false],
  ["2024-09-19 15:24:41.123456789", "2024-09-19T15:24:41.123Z", 1, false],
  ["2024-09-19", "2024-09-19T00:00:00.000Z", DAY, false],
  ["Mon, 11 Sep 2023 14:56:00 GMT", "2023-09-11T14:56:00.000Z", MINUTE, true],
  ["11 Sep 2023 14:56:01 -0700", "2023-09-11T21:56:01.000Z", SECOND, true],
  ["13-Oct-2024 10:01 AM", "2024-10-13T10:01:00.000Z", MINUTE, false],
  ["2024-02-29", "2024-02-29T00:00:00.000Z", DAY, false],
  ["0001-01-01T00:00:00", "0001-01-01T00:00:00.000Z", DAY, false],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", 1, true],
])(
  "reads %j, whose grain is an hour more without a zone, because autumn repeats one",
  (text, at, precisionMs, zoned) => {
    expect(reading(text)).toEqual([at, precisionMs, zoned]);
    expect(precisionOf(text)).toBe(zoned ? precisionMs : precisionMs + HOUR);
  },
);

test.each([
  ["2025-04-07T14:16:12.1234Z", 1],
  ["2025-04-07T14:16:12.1200Z", 10],
  ["2025-04-07T14:16:12.1Z", 100],
  ["2025-04-07T14:16:12.000Z", SECOND],
  ["2025-04-07T14:16:12.0000000Z", SECOND],
  ["2025-04-07T14:16:00Z", MINUTE],
  ["2025-04-07T14:16:00.000Z", MINUTE],
  ["2025-04-07T14:00:00Z", HOUR],
  ["2025-04-07T14:00Z", HOUR],
  ["2025-04-07T00:00:00Z", DAY],
  ["2025-04-07T00:00:00.001Z", 1],
  ["2025-04-07T00:01:00Z", MINUTE],
])("grain of %j: trailing zero fields do not count", (text, grain) => {
  expect(precisionOf(text)).toBe(grain);
});

test.each([
  // Other formats.
  ...["", "last Tuesday", "1694444160", "11/09/2023", "2023-W37-1", "2023-09-11 at 2:56 PM CEST", "string"],
  ...["2023-09-11T14:56:00.1234567890Z", "2023-09-11T2:56", "2023-09-11T", "11 Foo 2023 14:56:00 GMT"],
  ...["2023-09-11 at 2:56 PM\n", " 2023-09-11", "０２３-09-11"],
  // Days, times and zones that do not exist.
  ...["2023-02-29", "2023-02-30 at 2:56 PM", "2023-13-01", "2023-00-10", "2023-09-31", "2023-09-00"],
  ...["2023-09-11 at 13:00 PM", "2023-09-11 at 0:30 AM", "2023-09-11T24:00:00Z", "2023-09-11T25:00:00Z"],
  ...["2023-09-11T14:60:00Z", "2016-12-31T23:59:60Z", "2023-09-11T14:56:00+14:01", "2023-09-11T14:56:00+05:75"],
])("%j is not a valid date, so its grain is a day (fault 56)", (text) => {
  expect(parseDate(text, UTC)).toBeNull();
  expect(precisionOf(text)).toBe(DAY + HOUR);
  expect(latestInstant(text)).toBeNull();
});

test.each(["0000-12-31", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "+012023-01-01T00:00:00Z"])(
  "%j is outside of the years that Postgres reads back",
  (text) => expect(parseDate(text, UTC)).toBeNull(),
);

test.each([
  ["summer", "2023-09-11 at 2:56 PM", "Europe/Berlin", "2023-09-11T12:56:00.000Z"],
  ["winter", "2023-01-11 at 2:56 PM", "Europe/Berlin", "2023-01-11T13:56:00.000Z"],
  ["before spring's gap", "2023-03-26 01:59:59", "Europe/Berlin", "2023-03-26T00:59:59.000Z"],
  ["in spring's gap: the later reading", "2023-03-26 02:30:01", "Europe/Berlin", "2023-03-26T01:30:01.000Z"],
  ["after spring's gap", "2023-03-26 03:00:01", "Europe/Berlin", "2023-03-26T01:00:01.000Z"],
  ["autumn's repeated hour: the first", "2023-10-29 02:30:01", "Europe/Berlin", "2023-10-29T00:30:01.000Z"],
  ["after autumn's repeated hour", "2023-10-29 03:00:01", "Europe/Berlin", "2023-10-29T02:00:01.000Z"],
  ["the gap west of Greenwich", "2023-03-12 02:30:01", "America/Vancouver", "2023-03-12T10:30:01.000Z"],
  ["autumn west of Greenwich", "2023-11-05 01:30:01", "America/Vancouver", "2023-11-05T08:30:01.000Z"],
  ["a gap of half an hour", "2023-10-01 02:10:01", "Australia/Lord_Howe", "2023-09-30T15:40:01.000Z"],
  ["a zone on a quarter", "2023-06-01 12:00:01", "Asia/Kathmandu", "2023-06-01T06:15:01.000Z"],
  ["a day that an island left out", "2011-12-30 12:00:01", "Pacific/Apia", "2011-12-30T22:00:01.000Z"],
  ["midnight", "2023-06-01", "Asia/Tokyo", "2023-05-31T15:00:00.000Z"],
  ["the stated zone, if there is one", "2023-09-11T14:56:01Z", "Asia/Tokyo", "2023-09-11T14:56:01.000Z"],
])("reads local time: %s", (_, text, timeZone, at) => {
  expect(reading(text, timeZone)?.[0]).toBe(at);
});

test.each([
  ["2024-09-19 15:24:41.3994461", "2024-09-19T15:24:41.399Z", 446],
  ["2024-09-19T15:24:41.999999999Z", "2024-09-19T15:24:41.999Z", 999],
  ["2024-09-19T15:24:41.0000019Z", "2024-09-19T15:24:41.000Z", 1],
  ["2024-09-19T15:24:41.12Z", "2024-09-19T15:24:41.120Z", 0],
  ["1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999Z", 999],
  ["2023-03-26 02:30:01,123456", "2023-03-26T02:30:01.123Z", 456],
  ["2024-09-19", "2024-09-19T00:00:00.000Z", 0],
])("reads %j to the microsecond and truncates finer digits (fault 61)", (text, at, micros) => {
  expect(parseDate(text, UTC)).toMatchObject({ at: Date.parse(at), micros });
});

test("every microsecond from the year 1 to the year 9999 is read exactly, in any zone", () => {
  const { microseconds } = createValueParsers("Europe/Berlin");
  const second = fc.integer({
    min: Date.parse("0001-01-02T00:00:00Z") / SECOND,
    max: Date.parse("9999-12-31T00:00:00Z") / SECOND,
  });
  fc.assert(
    fc.property(second, fc.nat(999_999), fc.stringMatching(/^[0-9]{0,3}$/), (at, micros, finer) => {
      const clock = new Date(at * SECOND).toISOString().slice(0, 19);
      const fraction = `${String(micros).padStart(6, "0")}${finer}`;
      const expected = BigInt(at) * 1_000_000n + BigInt(micros);
      expect(microseconds(`${clock}.${fraction}Z`)).toBe(expected);
      const local = microseconds(`${clock}.${fraction}`) ?? 0n;
      expect(((local % 1_000_000n) + 1_000_000n) % 1_000_000n).toBe(BigInt(micros));
    }),
  );
});

const ownZone = process.env.TZ;
afterEach(() => {
  if (ownZone === undefined) delete process.env.TZ;
  else process.env.TZ = ownZone;
});

test.each(["UTC", "America/St_Johns", "Pacific/Kiritimati", "Europe/Berlin"])(
  "reads the same with any time zone of the machine: %s (fault 58)",
  (zone) => {
    process.env.TZ = zone;
    expect(reading("2023-03-26 02:30:01", "UTC")?.[0]).toBe("2023-03-26T02:30:01.000Z");
    expect(reading("2023-03-26 02:30:01", "Europe/Berlin")?.[0]).toBe("2023-03-26T01:30:01.000Z");
    expect(reading("2023-09-11T14:56:01+05:30", "UTC")?.[0]).toBe("2023-09-11T09:26:01.000Z");
  },
);

test("every existing local time reads back as the same wall clock", () => {
  const names = ["Europe/Berlin", "America/Vancouver", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe", "UTC"];
  const zones = new Map(
    names.map((name) => {
      // A formatter for each call would take most of the time.
      const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: name, dateStyle: "short", timeStyle: "medium" });
      return [name, { zone: createTimeZone(name), wallAt: (at: number) => clock.format(at) }] as const;
    }),
  );
  const second = fc.integer({ min: Date.UTC(1990, 0) / SECOND, max: Date.UTC(2035, 0) / SECOND });
  fc.assert(
    fc.property(second, fc.constantFrom(...zones.values()), (at, { zone, wallAt }) => {
      const wall = wallAt(at * SECOND);
      const read = parseDate(wall, zone);
      // Only the second occurrence of a repeated autumn hour reads as another moment: the first.
      const apart = at * SECOND - (read?.at ?? Number.NaN);
      expect([0, HOUR / 2, HOUR, DAY]).toContain(apart);
      expect(wallAt(read?.at ?? 0)).toBe(wall);
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test("never throws", () => {
  const berlin = createTimeZone("Europe/Berlin");
  const pieces = fc.constantFrom("2023", "-", "09", "T", " at ", ":", "56", ".", "PM", "Z", "+", "Sep", "\u202f", "𝟚");
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(pieces).map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (date) => {
      parseDate(date, berlin);
      latestInstant(date);
      expect(precisionOf(date)).toBeGreaterThanOrEqual(1);
    }),
    { numRuns: 5000 },
  );
});

test("the grain of an ISO text covers the moment from which it was truncated", () => {
  const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
  fc.assert(
    fc.property(moment, fc.constantFrom(10, 13, 16, 19, 21, 22, 23), (at, length) => {
      const text = `${new Date(at).toISOString().slice(0, length)}${length > 13 ? "Z" : length > 10 ? ":00Z" : ""}`;
      const date = parseDate(text, UTC);
      expect(date).not.toBeNull();
      if (date === null) return;
      expect(at).toBeGreaterThanOrEqual(date.at);
      expect(at).toBeLessThan(date.at + date.precisionMs);
    }),
  );
});

test("the latest moment of a text is its reading as UTC plus 14 hours and its grain, whatever its zone", () => {
  expect(latestInstant("2023-09-11 at 2:56 PM")).toBe(Date.parse("2023-09-12T04:57:00Z"));
  expect(latestInstant("2023-09-11T14:56:00Z")).toBe(Date.parse("2023-09-12T04:57:00Z"));
  expect(latestInstant("2023-09-11T14:56:00+09:00")).toBe(Date.parse("2023-09-12T04:57:00Z"));
  expect(latestInstant("2023-09-11")).toBe(Date.parse("2023-09-12T14:00:00Z"));
});

test.each([
  ["2023-09-11 at 2:56 PM", "2023-09-11 at 2:56 PM", true],
  ["nobody knows", "nobody knows", true],
  ["2023-09-11 at 2:56 PM", "2023-09-11 14:56:59.999", true],
  ["2023-09-11 at 2:56 PM", "2023-09-11 14:57:00.001", false],
  ["2023-09-11 at 2:56 PM", "2023-09-11 14:55:59.999", false],
  ["2023-09-11T14:56:00.001Z", "2023-09-11T16:56:00.001+02:00", true],
  ["2023-09-11T14:56:00.001Z", "2023-09-11T16:56:00.002+02:00", false],
  ["2023-09-11 at 2:56 PM", "2023-09-11T14:56:31.123Z", true],
  ["2023-09-11 at 2:56 PM", "2023-09-11T21:56:31.123Z", true],
  ["2023-09-11 at 2:56 PM", "2023-09-11T09:11:31.123Z", true],
  ["2023-09-11 at 2:56 PM", "2023-09-12T04:56:31.123Z", true],
  ["2023-09-11 at 2:56 PM", "2023-09-12T05:11:31.123Z", false],
  ["2023-09-11 at 2:56 PM", "2023-09-11T00:56:31.123Z", true],
  ["2023-09-11 at 2:56 PM", "2023-09-11T00:41:31.123Z", false],
  ["2023-09-11 at 2:56 PM", "2023-09-11T14:57:31.123Z", false],
  ["2023-09-11 at 2:56 PM", "nobody knows", null],
  ["2023-09-11 at 2:56 PM", "", null],
  ["2023-09-11 at 2:56 PM", null, null],
  [null, null, null],
  ["", "", null],
])("%j and %j can name the same moment: %j", (a, b, expected) => {
  expect(sameMoment(a, b)).toBe(expected);
  expect(sameMoment(b, a)).toBe(expected);
});
