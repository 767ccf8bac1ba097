import { createHash } from "node:crypto";
import { type Html, html, ownMarkup, toMarkup } from "./html.ts";
import { STYLE } from "./style.ts";

interface PageOptions {
  readonly title: string;
  readonly body: Html;
  /** The browser reloads the page after this many seconds; null: never. */
  readonly refreshSeconds?: number | null;
}

const STYLE_HASH = createHash("sha256").update(STYLE, "utf8").digest("base64");

/** The page may load, run, send and frame nothing. Its only stylesheet is allowed by its hash. */
export const CONTENT_SECURITY_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/** A self-contained page as text. It contains the policy, because a file is read without our server. */
export function formatPage({ title, body, refreshSeconds = null }: PageOptions): string {
  // The stylesheet is not escaped, because the hash covers the bytes between the tags.
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
${ownMarkup(`<style>${STYLE}</style>`)}
</head>
<body>
${body}
</body>
</html>
`;
  return toMarkup(page);
}
