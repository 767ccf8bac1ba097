import { createHash } from "node:crypto";
import { type Html, html, toMarkup } from "./html.ts";

/** The stylesheet of simcat's pages, for phones, wide screens and paper, light and dark. It loads nothing. */
const STYLE = html`
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --card: #f6f8fa;
  --first: #1d5fa8; --second: #b35600; --area: #e3edf8; --shade: #eceff2;
  --ok: #00795a; --partial: #a15c00; --held: #7b3fb0; --failed: #c22f0c; --neutral: #66707b; --running: #0b62b0 }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #0f1318; --ink: #e8edf2; --soft: #9aa7b4; --line: #323b45; --card: #171d24;
    --first: #6fb1f5; --second: #f0a04b; --area: #17293c; --shade: #1e252d;
    --ok: #35c495; --partial: #efac3c; --held: #c79af2; --failed: #ff8160; --neutral: #98a3af; --running: #66b5ff }
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.25rem 1rem 2.5rem; max-width: 64rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.25 } h2 { margin: 0 0 .4rem; font-size: 1.05rem; line-height: 1.35; text-wrap: balance }
h3 { margin: .6rem 0 .1rem; font-size: .9375rem; font-weight: 600 } p { margin: .4rem 0 } a { color: inherit } bdi { white-space: pre-wrap; overflow-wrap: anywhere }
small, .soft, footer { color: var(--soft); font-size: .875rem } nav { margin-top: .6rem } footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .75rem }
:focus-visible { outline: 2px solid var(--first); outline-offset: 2px }
.lead { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem .75rem } .lead .state { font-weight: 650 }
.note { margin: 1rem 0; padding: .6rem .9rem; border: 1px solid var(--line); border-left: .3rem solid var(--partial); border-radius: .3rem; background: var(--card) }
.note.failed { border-left-color: var(--failed) } .note ul { margin: .2rem 0; padding-left: 1.2rem }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(10.5rem, calc(50% - .3rem)), 1fr)); gap: .6rem; margin: 1.25rem 0 0; padding: 0 }
.cards div { padding: .65rem .8rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--card) }
.cards dt { color: var(--soft); font-size: .8125rem } .cards dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: normal }
.cards dd time { font-size: 1rem; white-space: normal } .cards dd small time { font-size: inherit } .cards dd small { display: block; font-weight: 400; font-size: .8125rem }
.sections, .panels { display: grid; gap: 2.5rem; margin-top: 2.5rem; align-items: start } .panels { gap: .5rem 2.5rem; margin: 0 }
section, figure { min-width: 0; margin: 0 } .wide { grid-column: 1 / -1 }
@media (min-width: 50rem) { .sections, .panels { grid-template-columns: repeat(2, minmax(0, 1fr)) } }
.items { margin: .4rem 0; padding: 0; list-style: none } .items li { padding: .3rem 0; border-bottom: 1px solid var(--line) }
.items .nowrap, .legend .nowrap, details .nowrap, details td time { white-space: normal } .items li > p { margin: .1rem 0 0; padding-left: 1.1rem; color: var(--soft); font-size: .875rem }
.state-ok { color: var(--ok); fill: var(--ok) } .state-partial { color: var(--partial); fill: var(--partial) }
.state-held { color: var(--held); fill: var(--held) } .state-failed { color: var(--failed); fill: var(--failed) }
.state-neutral { color: var(--neutral); fill: var(--neutral) } .state-running { color: var(--running); fill: var(--running) }
.nowrap, td time { white-space: nowrap }
.chart { display: block; width: 100%; max-width: 30rem; height: auto; font-size: 12.2px } .chart text { fill: var(--soft) } .marks text { fill: var(--ink) }
.marks text { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round }
.grid, .axis { stroke: var(--line); fill: none } .axis { stroke: var(--soft) }
.area { fill: var(--area) } .curve { fill: none; stroke: var(--first); stroke-width: 2; stroke-linecap: round } .alone { stroke-width: 4 } .shade { fill: var(--shade); shape-rendering: crispEdges }
.first { --tone: var(--first) } .second { --tone: var(--second) } .solid { fill: var(--tone) } .hollow { fill: var(--paper); stroke: var(--tone); stroke-width: 1.5 }
.bar { display: block; width: 100%; height: 15px; margin: .2rem 0; overflow: visible } td:has(.bar) { width: 32% }
.so-far { opacity: .5 } .hollow.so-far { opacity: .7 }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .35rem 0; padding: 0; list-style: none; font-size: .875rem }
.legend svg { width: .7em; height: .7em; margin-right: .2em; vertical-align: baseline }
details { margin-top: .4rem } summary { width: fit-content; cursor: pointer; color: var(--soft); font-size: .875rem }
table { width: 100%; margin-top: .9rem; border-collapse: collapse; font-size: .9375rem }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
td, th { overflow-wrap: normal } th { color: var(--soft); font-weight: 500; font-size: .8125rem; vertical-align: bottom }
.number { text-align: right; font-variant-numeric: tabular-nums } td.number { white-space: nowrap }
td.number small { display: inline-block; min-width: 2.6rem } #storage td:first-child small { display: block }
/* A picture of 400 units is 328 pixels wide on a phone of 360: 13.6 units are 11 pixels. */
@media (max-width: 26rem) { .chart { font-size: 13.6px } td:has(.bar) { width: 22% } td.number small { min-width: 2.2rem } #storage td.number small { display: block } }
@media (max-width: 42rem) {
  .cards-on-phones thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  .cards-on-phones tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line) }
  .cards-on-phones td { display: flex; gap: .75rem; padding: .08rem 0; border: 0; text-align: left; white-space: normal }
  .cards-on-phones td::before { content: attr(data-title); flex: 0 0 7.5rem; color: var(--soft); font-size: .8125rem; line-height: 1.8 }
  .cards-on-phones td:empty { display: none } .cards-on-phones td > * { min-width: 0 }
}
@page { margin: 15mm }
@media print {
  :root { color-scheme: light; font-size: 9.5pt } body { max-width: none; padding: 0; print-color-adjust: exact }
  .sections, .panels { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.2rem 1.5rem } .sections { margin-top: 1.2rem }
  section:not(.wide), figure, tr, li, .cards, .note, footer { break-inside: avoid } h2, h3, .legend { break-after: avoid } thead { display: table-header-group }
  details, nav { display: none } a { text-decoration: none }
}
`;

const STYLE_HASH = createHash("sha256").update(toMarkup(STYLE), "utf8").digest("base64");

/** The page may load, run, send and frame nothing. Its only stylesheet is allowed by its hash. */
export const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/**
 * A self-contained page as text. It contains the policy, because a file is read without our server.
 * @param refreshSeconds the browser reloads the page after this many seconds; null: never
 */
export function formatPage(title: string, body: Html, refreshSeconds: number | null = null): string {
  return toMarkup(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${refreshSeconds === null ? null : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`);
}
