import { escapeHtml, type Html, ownMarkup } from "../html/html.ts";
import { toneOf } from "./palette.ts";

export interface Drawing {
  /** The SVG text of echarts. */
  readonly svg: string;
  /** A description for readers who do not see the chart. */
  readonly label: string;
  readonly className: string;
  /** The tooltip of an item of a series; null for none. */
  readonly titleOf: (series: number, index: number) => string | null;
}

const SHAPES = new Set(["g", "path", "rect", "circle", "line", "polyline", "polygon"]);
const ALLOWED_ATTRIBUTES = new Set([
  ...["d", "x", "y", "width", "height", "cx", "cy", "r", "x1", "y1", "x2", "y2", "points", "transform"],
  ...["text-anchor", "dominant-baseline", "stroke-width", "stroke-dasharray", "fill-opacity"],
]);
const TOKEN = /<(\/?)([a-zA-Z]+)((?:\s+[\w:-]+="[^"]*")*)\s*\/?>|<!\[CDATA\[[\s\S]*?\]\]>|([^<]+)/g;
const ATTRIBUTE = /([\w:-]+)="([^"]*)"/g;

/**
 * Converts the drawing of echarts to markup of our own: only shapes and text, with classes for colours. Without styles it
 * passes the strictest Content-Security-Policy, and without ids two drawings on a page do not conflict. Text is escaped again.
 */
export function inlineSvg({ svg, label, className, titleOf }: Drawing): Html {
  const written: string[] = [];
  let within: string | null = null;
  for (const [, slash, tag = "", attributes = "", text] of svg.matchAll(TOKEN)) {
    if (text !== undefined) {
      if (within === "text") written.push(escapeHtml(unescapeXml(text)));
    } else if (tag === "svg") {
      written.push(slash ? "</svg>" : openingOf(readAttributes(attributes), label, className));
    } else if (tag === "text" || SHAPES.has(tag)) {
      within = slash ? null : tag;
      written.push(slash ? `</${tag}>` : `<${tag}${formatAttributes(readAttributes(attributes))}>`);
      if (!slash) written.push(titled(readAttributes(attributes), titleOf));
    } else {
      within = null;
    }
  }
  return ownMarkup(written.join(""));
}

type Attributes = ReadonlyMap<string, string>;

const readAttributes = (text: string): Attributes =>
  new Map([...text.matchAll(ATTRIBUTE)].map(([, name = "", value = ""]) => [name, unescapeXml(value)]));

function openingOf(attributes: Attributes, label: string, className: string): string {
  const box = escapeHtml(attributes.get("viewBox") ?? "");
  return `<svg class="${className}" viewBox="${box}" role="img" aria-label="${escapeHtml(label)}">`;
}

function formatAttributes(attributes: Attributes): string {
  const kept = [...attributes].filter(([name]) => ALLOWED_ATTRIBUTES.has(name));
  const fill = attributes.get("fill");
  const stroke = attributes.get("stroke");
  const classes = [
    ...(fill === undefined ? [] : [`fill-${toneOf(fill) ?? "none"}`]),
    ...(stroke === undefined ? [] : [toneOf(stroke)].flatMap((tone) => (tone === null ? [] : [`line-${tone}`]))),
  ];
  const all = classes.length === 0 ? kept : [...kept, ["class", classes.join(" ")] as const];
  return all.map(([name, value]) => ` ${name}="${escapeHtml(value)}"`).join("");
}

/** echarts marks each shape with its series and its index. */
function titled(attributes: Attributes, titleOf: Drawing["titleOf"]): string {
  const series = attributes.get("ecmeta_series_index");
  const index = attributes.get("ecmeta_data_index");
  const title = series === undefined || index === undefined ? null : titleOf(Number(series), Number(index));
  return title === null ? "" : `<title>${escapeHtml(title)}</title>`;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const unescapeXml = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
