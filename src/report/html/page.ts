import { createHash } from "node:crypto";
import { type Html, html, ownMarkup, toMarkup } from "./html.ts";
import { STYLE } from "./style.ts";

export interface PageOptions {
  readonly title: string;
  readonly body: Html;
  /** Seconds after which a browser asks for the page anew; null for a page that stays as it is. */
  readonly refreshSeconds?: number | null;
}

const STYLE_HASH = createHash("sha256").update(STYLE, "utf8").digest("base64");

/** Nothing may be loaded, run, sent or framed; of styles, only our own sheet, named by its hash. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Not escaped: its hash is that of the bytes between the tags. */
const styleSheet = ownMarkup(`<style>${STYLE}</style>`);

/** A whole page that needs nothing beside itself, as the text of its file. The policy is in it, for readers without our server. */
export function formatPage({ title, body, refreshSeconds = null }: PageOptions): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
${refreshSeconds === null ? null : html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
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
