import { createHash } from "node:crypto";
import { type Html, html, ownMarkup, toMarkup } from "./html.ts";

interface PageOptions {
  readonly title: string;
  readonly body: Html;
  /** The complete stylesheet of the page. */
  readonly style?: string;
  /** The browser reloads the page after this many seconds; null: never. */
  readonly refreshSeconds?: number | null;
}

/** The common stylesheet of simcat's pages, for phones, wide screens and paper, light and dark. It loads nothing. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --card: #f6f8fa;
  --ok: #00795a; --partial: #a15c00; --held: #7b3fb0; --failed: #c22f0c; --neutral: #66707b; --running: #0b62b0 }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #0f1318; --ink: #e8edf2; --soft: #9aa7b4; --line: #323b45; --card: #171d24;
    --ok: #35c495; --partial: #efac3c; --held: #c79af2; --failed: #ff8160; --neutral: #98a3af; --running: #66b5ff }
}
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.25rem 1rem 2.5rem; max-width: 64rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; overflow-wrap: anywhere }
h1 { margin: 0; font-size: 1.35rem; line-height: 1.25 } h2 { margin: 2.25rem 0 .6rem; font-size: 1.05rem }
p { margin: .4rem 0 } a { color: inherit } bdi { white-space: pre-wrap }
small, .soft, footer { color: var(--soft); font-size: .875rem } footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .75rem }
.lead { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem .75rem }
.lead .state { font-weight: 650 }
.note { margin: 1rem 0; padding: .6rem .9rem; border: 1px solid var(--line); border-left: .3rem solid var(--partial); border-radius: .3rem; background: var(--card) }
.note.failed { border-left-color: var(--failed) } .note ul { margin: .2rem 0; padding-left: 1.2rem }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.8rem, 1fr)); gap: .6rem; margin: 1.25rem 0 0; padding: 0 }
.cards div { padding: .65rem .8rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--card) }
.cards dt { color: var(--soft); font-size: .8125rem } .cards dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; overflow-wrap: normal }
.cards dd small { display: block; font-weight: 400; font-size: .8125rem }
.state-ok { color: var(--ok); fill: var(--ok) } .state-partial { color: var(--partial); fill: var(--partial) }
.state-held { color: var(--held); fill: var(--held) } .state-failed { color: var(--failed); fill: var(--failed) }
.state-neutral { color: var(--neutral); fill: var(--neutral) } .state-running { color: var(--running); fill: var(--running) }
.nowrap, td time { white-space: nowrap }
figure { margin: 0 } figcaption { margin-top: .4rem }
svg.runs { display: block; width: 100%; max-width: 45rem; height: auto; border-bottom: 1px solid var(--line) }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; margin: .35rem 0; padding: 0; list-style: none; font-size: .875rem }
.legend svg { width: .7em; height: .7em; margin-right: .35em; vertical-align: baseline }
table { width: 100%; margin-top: .9rem; border-collapse: collapse; font-size: .9375rem }
th, td { padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { color: var(--soft); font-weight: 500; font-size: .8125rem; white-space: nowrap }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
@media (max-width: 42rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line) }
  td, td.number { display: flex; gap: .75rem; padding: .08rem 0; border: 0; text-align: left; white-space: normal }
  td::before { content: attr(data-title); flex: 0 0 6rem; color: var(--soft); font-size: .8125rem; line-height: 1.8 }
  td:empty { display: none } td > * { min-width: 0 }
}
@media print {
  :root { color-scheme: light } body { max-width: none; padding: 0; font-size: 10pt } .cards div, .note { break-inside: avoid }
  tr, figure { break-inside: avoid } a { text-decoration: none }
}
`;

/** The page may load, run, send and frame nothing. Its only stylesheet is allowed by its hash. */
function policyOf(style: string): string {
  const hash = createHash("sha256").update(style, "utf8").digest("base64");
  return ["default-src 'none'", `style-src 'sha256-${hash}'`, "base-uri 'none'", "form-action 'none'"].join("; ");
}

/** The policy of a page with only the common stylesheet. */
export const CONTENT_SECURITY_POLICY = policyOf(STYLE);

/** A self-contained page as text. It contains the policy, because a file is read without our server. */
export function formatPage({ title, body, style = STYLE, refreshSeconds = null }: PageOptions): string {
  // The stylesheet is not escaped, because the hash covers the bytes between the tags.
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${refreshSeconds === null ? null : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title}</title>
${ownMarkup(`<style>${style}</style>`)}
</head>
<body>
${body}
</body>
</html>
`;
  return toMarkup(page);
}
