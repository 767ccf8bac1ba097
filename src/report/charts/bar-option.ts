import type { GridComponentOption } from "echarts";
import { printable } from "../../printable.ts";
import { truncate, widthOf } from "../text-width.ts";
import type { BarChart } from "./bar-chart.ts";
import { toBarSeries } from "./bar-series.ts";
import { FONT, PALETTE, SOFT_FONT } from "./palette.ts";
import { roundTicks, type Ticks } from "./round-ticks.ts";

export interface Size {
  readonly width: number;
  readonly height: number;
}

const BAR_HEIGHT = 26;
/** The width of a digit, and of a letter in a wide font, in pixels. */
const DIGIT_WIDTH = 6.6;
const LETTER_WIDTH = 8;

/** The size in pixels. The text must not shrink on a phone, so a narrow chart is drawn separately. */
export function sizeOf(chart: BarChart, width: number): Size {
  const height =
    chart.kind === "bars" ? chart.names.length * BAR_HEIGHT + 58 : Math.round(Math.min(250, 150 + width / 8));
  return { width, height };
}

/** Converts the chart to an option of echarts. */
export function toBarOption(chart: BarChart, { width }: Size) {
  return chart.kind === "bars" ? toHorizontalOption(chart, width) : toVerticalOption(chart, width);
}

function toHorizontalOption(chart: BarChart, width: number) {
  const isNarrow = width < 500;
  const room = isNarrow ? 118 : 230;
  const columns = Math.floor(room / LETTER_WIDTH);
  const names = chart.names.map((name, index) => {
    const tail = truncate(printable(chart.tails?.[index] ?? ""), Math.floor(columns / 2));
    const cut = truncate(printable(name), columns - widthOf(tail));
    // Isolated, so that its writing direction does not affect the tail.
    return tail === "" || /^[\x20-\x7e…]*$/.test(cut) ? cut + tail : `\u2068${cut}\u2069${tail}`;
  });
  const endRoom = Math.max(20, ...(chart.ends ?? []).map((end) => end.length)) * DIGIT_WIDTH + 12;
  const grid = { left: room + 10, right: isNarrow ? Math.min(112, endRoom) : endRoom, top: 4, bottom: 46 };
  return {
    ...COMMON,
    grid: gridOf(grid),
    yAxis: {
      ...nameAxis(names),
      inverse: true,
      axisLabel: { ...FONT, interval: 0, margin: 8 },
    },
    xAxis: {
      ...valueAxis(chart),
      ...ticksOf(chart, width - grid.left - grid.right),
      nameLocation: "middle" as const,
      nameGap: 28,
    },
    series: toBarSeries(chart, "right", isNarrow),
  };
}

/** As many ticks as have room for their labels, because echarts hides labels irregularly if they do not fit. */
function ticksOf(chart: BarChart, width: number): Ticks {
  const totals = chart.names.map((_, index) => chart.series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const largest = Math.max(0, ...totals);
  const label = (chart.formatValue(largest).length + 1) * DIGIT_WIDTH + 16;
  return roundTicks(largest, Math.max(1, Math.min(5, Math.floor(width / label))), isWhole(chart));
}

function toVerticalOption(chart: BarChart, width: number) {
  const longest = Math.max(1, ...chart.names.map((name) => name.length));
  const maxLabels = Math.floor((width - 60) / (longest * DIGIT_WIDTH + 14));
  const every = Math.max(1, Math.ceil(chart.names.length / maxLabels));
  const interval = (index: number) => (chart.names.length - 1 - index) % every === 0;
  const widest = Math.max(1, ...chart.series.flatMap(({ values }) => values.map((v) => chart.formatValue(v).length)));
  return {
    ...COMMON,
    grid: gridOf({ left: Math.max(34, widest * DIGIT_WIDTH + 16), right: 26, top: 30, bottom: 44 }),
    xAxis: {
      ...nameAxis(chart.names),
      nameLocation: "middle" as const,
      nameGap: 28,
      name: chart.things,
      nameTextStyle: SOFT_FONT,
      axisLabel: { ...SOFT_FONT, interval, hideOverlap: false },
    },
    yAxis: {
      ...valueAxis(chart),
      splitNumber: 4,
      ...(isWhole(chart) ? { minInterval: 1 } : {}),
      nameLocation: "end" as const,
      nameGap: 12,
      nameTextStyle: { ...SOFT_FONT, align: "left" as const, padding: [0, 0, 0, -30] },
    },
    series: toBarSeries(chart, "top", false),
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

const isWhole = ({ series }: BarChart) => series.every(({ values }) => values.every(Number.isInteger));

function valueAxis({ unit, formatValue }: BarChart) {
  return {
    type: "value" as const,
    name: unit,
    nameTextStyle: SOFT_FONT,
    axisLabel: { ...SOFT_FONT, hideOverlap: true, formatter: (value: number) => formatValue(Math.abs(value)) },
    axisLine: { show: false, lineStyle: { color: PALETTE.soft } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: PALETTE.line } },
  };
}
