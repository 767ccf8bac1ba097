import { type Html, html } from "./html.ts";

/**
 * Text from elsewhere, set apart so that its writing direction ends with it. What is longer than `most` characters is cut;
 * the whole of it is in the tooltip.
 */
export function foreign(text: string, most = 120): Html {
  const characters = [...text];
  if (characters.length <= most) return html`<bdi>${text}</bdi>`;
  const whole = characters.slice(0, 20 * most).join("");
  return html`<bdi title="${whole}">${characters.slice(0, most).join("")}…</bdi>`;
}
