import type { BarSeriesOption } from "echarts";
import { truncate } from "../text-width.ts";
import type { BarChart, Series } from "./bar-chart.ts";
import { FONT, PALETTE } from "./palette.ts";

/** Converts the series to those of echarts, and adds a series that carries the labels at the ends of the bars. */
export function toBarSeries(
  { series, ends, names }: BarChart,
  position: "right" | "top",
  isNarrow: boolean,
): BarSeriesOption[] {
  const drawn = series.map((one) => toSeries(one, position === "right" ? 16 : 44));
  if (ends === undefined) return drawn;
  // echarts labels one series, so an empty bar on top of the stack carries the label.
  const label = {
    ...FONT,
    show: true,
    position,
    formatter: ({ dataIndex }: { dataIndex: number }) => truncate(ends[dataIndex] ?? "", isNarrow ? 16 : 60),
  };
  const labelSeries = {
    type: "bar" as const,
    stack: "all",
    data: names.map(() => 0),
    silent: true,
    itemStyle: { color: "transparent" },
  };
  return [...drawn, { ...labelSeries, label: { ...NO_HALO, ...label } }];
}

/** Turns off the halo that echarts draws around letters. */
const NO_HALO = { textBorderWidth: 0, textBorderColor: "transparent" };

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
    // A zero has no outline.
    data: values.map((value) => (value === 0 ? { value, itemStyle: { borderWidth: 0 } } : value)),
  };
}
