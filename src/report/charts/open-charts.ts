import { printable } from "../../printable.ts";
import { type Html, html } from "../html/html.ts";
import type { BarChart, Series } from "./bar-chart.ts";
import { sizeOf, toBarOption } from "./bar-option.ts";
import { inlineSvg } from "./inline-svg.ts";

export type Draw = (chart: BarChart) => Html;

const WIDTHS = { wide: 800, narrow: 358 } as const;

/** The charting library is large, so it is loaded when somebody wants a picture, and of it only what draws bars. */
export async function openCharts(): Promise<Draw> {
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
  return (at: number, place: number): string | null => {
    const one = series[at];
    const name = names[place];
    if (one === undefined || name === undefined) return null;
    return `${printable(name + (tails?.[place] ?? ""))}: ${formatValue(Math.abs(one.values[place] ?? 0))} ${unit}, ${one.name}`;
  };
}

function legend(series: readonly Series[]): Html {
  const items = series.map(({ name, tone, hollow = false }) => {
    const swatch = `line-${tone} fill-${hollow ? "paper" : tone}`;
    return html`<li><svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true"><rect class="${swatch}" x="1" y="1" width="10" height="10" stroke-width="2"/></svg>${name}</li>`;
  });
  return html`<ul class="legend">${items}</ul>`;
}
