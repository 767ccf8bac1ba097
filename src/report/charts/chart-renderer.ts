import { printable } from "../../printable.ts";
import { type Html, html } from "../html/html.ts";
import type { BarChart, Series } from "./bar-chart.ts";
import { sizeOf, toBarOption } from "./bar-option.ts";
import { inlineSvg } from "./inline-svg.ts";

/** Draws a chart as inline SVG, once for wide and once for narrow screens. */
export type DrawChart = (chart: BarChart) => Html;

const WIDTHS = { wide: 800, narrow: 358 } as const;

/** Loads the parts of echarts that draw bars. They are large, so they are loaded only for a report. */
export async function createChartRenderer(): Promise<DrawChart> {
  const [{ init, use }, { BarChart: Bars }, { GridComponent }, { SVGRenderer }] = await Promise.all([
    import("echarts/core"),
    import("echarts/charts"),
    import("echarts/components"),
    import("echarts/renderers"),
  ]);
  use([Bars, GridComponent, SVGRenderer]);

  const drawAt = (chart: BarChart, className: keyof typeof WIDTHS): Html => {
    const size = sizeOf(chart, WIDTHS[className]);
    const instance = init(null, null, { renderer: "svg", ssr: true, ...size });
    try {
      instance.setOption(toBarOption(chart, size));
      const svg = instance.renderToSVGString({ useViewBox: true });
      return inlineSvg({ svg, className, label: chart.label, titleOf: titlesOf(chart) });
    } finally {
      instance.dispose();
    }
  };
  return (chart) => html`<figure class="chart">
${chart.series.length > 1 ? legend(chart.series) : null}
${drawAt(chart, "wide")}
${drawAt(chart, "narrow")}
</figure>`;
}

function titlesOf({ series, names, tails, unit, formatValue }: BarChart) {
  return (seriesIndex: number, index: number): string | null => {
    const found = series[seriesIndex];
    const name = names[index];
    if (found === undefined || name === undefined) return null;
    return `${printable(name + (tails?.[index] ?? ""))}: ${formatValue(Math.abs(found.values[index] ?? 0))} ${unit}, ${found.name}`;
  };
}

function legend(series: readonly Series[]): Html {
  const items = series.map(({ name, tone, hollow = false }) => {
    const swatch = `line-${tone} fill-${hollow ? "paper" : tone}`;
    return html`<li><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><rect class="${swatch}" x="1" y="1" width="10" height="10" stroke-width="2"/></svg>${name}</li>`;
  });
  return html`<ul class="legend">${items}</ul>`;
}
