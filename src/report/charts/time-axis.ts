import type { ScaleTime } from "d3-scale";
import { utcDay, utcMonth } from "d3-time";

/** Labels have room for so many. d3 returns about as many ticks as it is asked for. */
const MAX_TICKS = 6;
/** From so many days on, ticks are months. */
const MONTHS_FROM_DAYS = 120;

/** Round times in UTC: `14:00`, `20 Nov`, or `Nov` with the year at the first and in January. */
export function timeTicks(scale: ScaleTime<number, number>) {
  const [from = new Date(0), to = from] = scale.domain();
  const isMonthly = utcDay.count(from, to) >= MONTHS_FROM_DAYS;
  const [hour, day, month, year] = ["%H:%M", "%-d %b", "%b", "%b %Y"].map((specifier) =>
    scale.tickFormat(0, specifier),
  );
  const [most = [], ...fewer] = [5, 4, 3, 2].map((count) => scale.ticks(count));
  // Between weeks and months, and between quarters and years, d3 has nothing: every other week or quarter.
  const everyOther = most.filter((_, index) => index % 2 === 0);
  const times = [most, everyOther, ...fewer].find(({ length }) => length <= MAX_TICKS) ?? [];
  return times.map((time, index) => {
    const isYear = index === 0 || utcMonth.count(new Date(0), time) % 12 === 0;
    const format = utcDay(time) < time ? hour : isMonthly ? (isYear ? year : month) : day;
    return { at: scale(time), text: format?.(time) ?? "" };
  });
}
