import type { BarSeriesOption, GridComponentOption } from "echarts";
import { printable } from "../../printable.ts";
import { truncate, widthOf } from "../width.ts";
import type { BarChart, Series } from "./bar-chart.ts";
import { PALETTE } from "./palette.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

const BAR = 26;
/** A digit's width, and that of a letter where the reader's font is a wide one. */
const CHARACTER = 6.6;
const LETTER = 8;
const FONT = { color: PALETTE.ink, fontSize: 12, fontFamily: "sans-serif" };
const SOFT = { ...FONT, color: PALETTE.soft };

/** Wide for a screen or paper, narrow for a phone, where letters must not shrink. */
export function sizeOf(chart: BarChart, width: number): Size {
  const height = chart.kind === "bars" ? chart.names.length * BAR + 58 : Math.round(Math.min(250, 150 + width / 8));
  return { width, height };
}

/** The chart in the charting library's words. */
export function toBarOption(chart: BarChart, { width }: Size) {
  const isNarrow = width < 500;
  return chart.kind === "bars" ? toLyingOption(chart, isNarrow) : toStandingOption(chart, width);
}

function toLyingOption(chart: BarChart, isNarrow: boolean) {
  const room = isNarrow ? 118 : 230;
  const columns = Math.floor(room / LETTER);
  const names = chart.names.map((name, at) => {
    const tail = truncate(printable(chart.tails?.[at] ?? ""), Math.floor(columns / 2));
    const cut = truncate(printable(name), columns - widthOf(tail));
    // Set apart, so that its writing direction does not take hold of the tail.
    return tail === "" || /^[\x20-\x7e…]*$/.test(cut) ? cut + tail : `\u2068${cut}\u2069${tail}`;
  });
  const endRoom = Math.max(20, ...(chart.ends ?? []).map((end) => end.length)) * CHARACTER + 12;
  return {
    ...COMMON,
    grid: gridOf({ left: room + 10, right: isNarrow ? Math.min(96, endRoom) : endRoom, top: 4, bottom: 46 }),
    yAxis: {
      ...nameAxis(names),
      inverse: true,
      axisLabel: { ...FONT, interval: 0, margin: 8 },
    },
    xAxis: { ...valueAxis(chart, isNarrow ? 3 : 5), nameLocation: "middle" as const, nameGap: 28 },
    series: seriesOf(chart, "right", isNarrow),
  };
}

function toStandingOption(chart: BarChart, width: number) {
  const longest = Math.max(1, ...chart.names.map((name) => name.length));
  const most = Math.floor((width - 60) / (longest * CHARACTER + 14));
  const every = Math.max(1, Math.ceil(chart.names.length / most));
  const interval = (at: number) => (chart.names.length - 1 - at) % every === 0;
  const widest = Math.max(1, ...chart.series.flatMap(({ values }) => values.map((v) => chart.formatValue(v).length)));
  return {
    ...COMMON,
    grid: gridOf({ left: Math.max(34, widest * CHARACTER + 16), right: 26, top: 30, bottom: 44 }),
    xAxis: {
      ...nameAxis(chart.names),
      nameLocation: "middle" as const,
      nameGap: 28,
      name: chart.things,
      nameTextStyle: SOFT,
      axisLabel: { ...SOFT, interval, hideOverlap: false },
    },
    yAxis: {
      ...valueAxis(chart, 4),
      nameLocation: "end" as const,
      nameGap: 12,
      nameTextStyle: { ...SOFT, align: "left" as const, padding: [0, 0, 0, -30] },
    },
    series: seriesOf(chart, "top", false),
  };
}

const COMMON = { animation: false, textStyle: FONT, stateAnimation: { duration: 0 } };

const gridOf = (grid: GridComponentOption): GridComponentOption => ({ ...grid, outerBoundsMode: "none" });

function nameAxis(names: readonly string[]) {
  return {
    type: "category" as const,
    data: [...names],
    axisTick: { show: false },
    axisLine: { lineStyle: { color: PALETTE.soft } },
    splitLine: { show: false },
  };
}

function valueAxis({ unit, formatValue, series }: BarChart, splitNumber: number) {
  const isWhole = series.every(({ values }) => values.every(Number.isInteger));
  return {
    type: "value" as const,
    name: unit,
    nameTextStyle: SOFT,
    splitNumber,
    ...(isWhole ? { minInterval: 1 } : {}),
    axisLabel: { ...SOFT, hideOverlap: true, formatter: (value: number) => formatValue(Math.abs(value)) },
    axisLine: { show: false, lineStyle: { color: PALETTE.soft } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: PALETTE.line } },
  };
}

function seriesOf({ series, ends, names }: BarChart, position: "right" | "top", isNarrow: boolean): BarSeriesOption[] {
  const drawn = series.map((one) => toSeries(one, position === "right" ? 16 : 44));
  if (ends === undefined) return drawn;
  // A bar without length, stacked on the others, carries what stands at their end.
  const label = {
    ...FONT,
    show: true,
    position,
    formatter: ({ dataIndex }: { dataIndex: number }) => truncate(ends[dataIndex] ?? "", isNarrow ? 14 : 60),
  };
  const bearer = {
    type: "bar" as const,
    stack: "all",
    data: names.map(() => 0),
    silent: true,
    itemStyle: { color: "transparent" },
  };
  return [...drawn, { ...bearer, label: { ...PLAIN, ...label } }];
}

/** Without the halo that the library draws around letters. */
const PLAIN = { textBorderWidth: 0, textBorderColor: "transparent" };

function toSeries({ name, tone, hollow = false, values }: Series, barMaxWidth: number): BarSeriesOption {
  const colour = PALETTE[tone];
  return {
    type: "bar",
    name,
    stack: "all",
    barMaxWidth,
    barCategoryGap: "22%",
    clip: false,
    emphasis: { disabled: true },
    itemStyle: { color: hollow ? PALETTE.paper : colour, borderColor: colour, borderWidth: 1.5 },
    // What is nothing has no outline either.
    data: values.map((value) => (value === 0 ? { value, itemStyle: { borderWidth: 0 } } : value)),
  };
}
