import { describe, expect, test } from "vitest";
import type { BarChart } from "../../src/report/charts/bar-chart.ts";
import { createChartRenderer } from "../../src/report/charts/chart-renderer.ts";
import { inlineSvg } from "../../src/report/charts/inline-svg.ts";
import { toMarkup } from "../../src/report/html/html.ts";

const HOSTILE = "<img src=x onerror=alert(1)>";
const chart: BarChart = {
  label: `What ${HOSTILE} has`,
  kind: "bars",
  things: "owner",
  names: [HOSTILE, "مكتبة ١", "🌲🔥 burn 👩‍🔬", "ann"],
  unit: "libraries",
  formatValue: String,
  series: [
    { name: "new", tone: "first", values: [3, 2, 0, 1] },
    { name: "old", tone: "second", hollow: true, values: [1, 0, 0, 4] },
  ],
  ends: ["4", "2", "0", "5"],
};

describe("a chart", () => {
  test("is drawn for wide and narrow screens, each with title, unit and labels", async () => {
    const drawn = toMarkup((await createChartRenderer())(chart));
    expect(
      drawn.match(/<svg class="(?:wide|narrow)" viewBox="0 0 (?:800|358) 162" role="img" aria-label="[^"]*">/g),
    ).toHaveLength(2);
    const texts = [...drawn.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);
    expect(texts.filter((text) => text === "libraries")).toHaveLength(2);
    expect(texts).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(texts).toContain("مكتبة ١");
    expect(texts).toContain("🌲🔥 burn 👩‍🔬");
    expect([...drawn.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title)).toContain(
      "ann: 4 libraries, old",
    );
    expect(drawn).not.toMatch(/<img|style=|\sid=|zr0|CDATA/);
  });

  test("is the same however often it is drawn", async () => {
    const draw = await createChartRenderer();
    expect(toMarkup(draw(chart))).toBe(toMarkup(draw(chart)));
  });

  test("with a colour that no theme knows is refused, since it would not change with the theme", () => {
    const drawing = { label: "", className: "wide", titleOf: () => null };
    expect(() =>
      inlineSvg({ ...drawing, svg: '<svg viewBox="0 0 1 1"><path d="M0 0" fill="#5070dd"></path></svg>' }),
    ).toThrow("a chart uses #5070dd, which has no class; use one of PALETTE");
  });

  test("keeps of the library's drawing shapes and text alone", () => {
    const svg = `<svg width="9" viewBox="0 0 9 9" onload="x()"><style ><![CDATA[ .a { b: <c> } ]]></style><defs><pattern id="p"><path d="M1 1"></path></pattern></defs><script>alert(1)</script>
<text style="font-size:12px" x="1" fill="#000001">a &lt; b &amp;amp; c</text></svg>`;
    expect(toMarkup(inlineSvg({ svg, label: '"', className: "wide", titleOf: () => null })).replaceAll("\n", "")).toBe(
      '<svg class="wide" viewBox="0 0 9 9" role="img" aria-label="&quot;"><path d="M1 1"></path><text x="1" class="fill-ink">a &lt; b &amp;amp; c</text></svg>',
    );
  });
});
