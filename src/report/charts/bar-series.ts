import type { BarSeriesOption } from "echarts";
import { truncate } from "../width.ts";
import type { BarChart, Series } from "./bar-chart.ts";
import { FONT } from "./font.ts";
import { PALETTE } from "./palette.ts";

/** The series in the charting library's words, and, stacked on them, what carries the text at the end of each bar. */
export function toBarSeries(
  { series, ends, names }: BarChart,
  position: "right" | "top",
  isNarrow: boolean,
): BarSeriesOption[] {
  const drawn = series.map((one) => toSeries(one, position === "right" ? 16 : 44));
  if (ends === undefined) return drawn;
  // A bar without length, stacked on the others, carries what stands at their end.
  const label = {
    ...FONT,
    show: true,
    position,
    formatter: ({ dataIndex }: { dataIndex: number }) => truncate(ends[dataIndex] ?? "", isNarrow ? 16 : 60),
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
