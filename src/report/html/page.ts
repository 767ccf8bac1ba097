import { createHash } from "node:crypto";
import { type Html, html, ownMarkup, toMarkup } from "./html.ts";
import { STYLE } from "./style.ts";

export interface PageOptions {
  readonly title: string;
  readonly body: Html;
  /** The page's whole stylesheet. */
  readonly style?: string;
  /** Seconds after which a browser asks for the page anew; null for a page that stays as it is. */
  readonly refreshSeconds?: number | null;
}

/** Nothing may be loaded, run, sent or framed; of styles, only this sheet, named by its hash. */
function policyOf(style: string): string {
  const hash = createHash("sha256").update(style, "utf8").digest("base64");
  return ["default-src 'none'", `style-src 'sha256-${hash}'`, "base-uri 'none'", "form-action 'none'"].join("; ");
}

/** Of a page with the common stylesheet alone. */
export const CONTENT_SECURITY_POLICY = policyOf(STYLE);

/** A whole page that needs nothing beside itself, as the text of its file. The policy is in it, for readers without our server. */
export function formatPage({ title, body, style = STYLE, refreshSeconds = null }: PageOptions): string {
  // The sheet is not escaped: its hash is that of the bytes between the tags.
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
