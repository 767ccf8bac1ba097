import { createHash } from "node:crypto";
import { CHART_STYLE } from "../charts/palette.ts";
import { type Html, html, ownMarkup, toMarkup } from "../html/html.ts";
import { STYLE } from "../html/style.ts";

const REPORT_STYLE = `${STYLE}${CHART_STYLE}
section { margin-top: 2.5rem } section h2 { margin: 0 0 .3rem; font-size: 1.15rem; line-height: 1.35 }
details { margin-top: .5rem } summary { cursor: pointer; color: var(--soft); font-size: .875rem } section table { max-width: 60rem }
.concerns { margin: .4rem 0; padding: 0; list-style: none } .concerns li { padding: .3rem 0; border-bottom: 1px solid var(--line) }
.concerns .nowrap { white-space: normal } .concerns small { display: block; padding-left: 1.1rem }
@media print { section { margin-top: 1.4rem } h2 { break-after: avoid } .chart, .runs { break-inside: avoid } summary { display: none } }
`;

const STYLE_HASH = createHash("sha256").update(REPORT_STYLE, "utf8").digest("base64");

/** Nothing may be loaded, run, sent or framed; of styles, only the sheet below, named by its hash. */
const REPORT_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Not escaped: its hash is that of the bytes between the tags. */
const styleSheet = ownMarkup(`<style>${REPORT_STYLE}</style>`);

/** A file that a browser opens from anywhere, for years: it needs nothing beside itself. */
export function formatShell(title: string, body: Html): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${REPORT_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
${styleSheet}
</head>
<body>
${body}
</body>
</html>
`;
  return toMarkup(page);
}
