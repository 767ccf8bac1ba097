/**
 * Placeholder colours for echarts. They are replaced by classes of the stylesheet, which defines the colours for light and
 * dark screens and for paper.
 */
export const PALETTE = {
  ink: "#000001",
  soft: "#000002",
  line: "#000003",
  paper: "#000004",
  first: "#000005",
  second: "#000006",
  third: "#000007",
} as const;

export type Tone = keyof typeof PALETTE;

const NAMES: ReadonlyMap<string, string> = new Map(Object.entries(PALETTE).map(([name, colour]) => [colour, name]));

/** The text style of echarts. */
export const FONT = { color: PALETTE.ink, fontSize: 12, fontFamily: "sans-serif" };

/** The text style of units and ticks. */
export const SOFT_FONT = { ...FONT, color: PALETTE.soft };

/** The name of the colour; null for no colour. */
export function toneOf(colour: string): string | null {
  if (colour === "none" || colour === "transparent") return null;
  const name = NAMES.get(colour);
  if (name === undefined) throw new Error(`a chart uses ${colour}, which has no class; use one of PALETTE`);
  return name;
}

/** The styles of the classes. Their variables are defined in the common stylesheet. */
export const CHART_STYLE = `
:root { --first: #1d5fa8; --second: #c25e00; --third: #6d4aa5 }
@media screen and (prefers-color-scheme: dark) { :root { --first: #6fb1f5; --second: #f0a04b; --third: #c3a3f5 } }
.chart { margin: .6rem 0 0 } .chart .wide, .chart .narrow { width: 100%; height: auto; font-size: 12px }
.chart .wide { display: block; max-width: 50rem } .chart .narrow { display: none; max-width: 26rem }
@media screen and (max-width: 42rem) { .chart .wide { display: none } .chart .narrow { display: block } }
.fill-none { fill: none } .fill-ink { fill: var(--ink) } .fill-soft { fill: var(--soft) } .fill-line { fill: var(--line) }
.fill-paper { fill: var(--paper) } .fill-first { fill: var(--first) } .fill-second { fill: var(--second) } .fill-third { fill: var(--third) }
.line-ink { stroke: var(--ink) } .line-soft { stroke: var(--soft) } .line-line { stroke: var(--line) } .line-paper { stroke: var(--paper) }
.line-first { stroke: var(--first) } .line-second { stroke: var(--second) } .line-third { stroke: var(--third) }
`;
