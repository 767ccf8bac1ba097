import type { LibraryKey } from "../../model.ts";
import { printable } from "../../printable.ts";
import { type Html, html } from "./html.ts";

/**
 * Text from elsewhere, set apart so that its writing direction ends with it; marks that would turn or hide it are shown
 * as what they are. What is longer than `most` characters is cut, with more of it in the tooltip.
 */
export function foreign(text: string, most = 120): Html {
  const characters = [...printable(text)];
  if (characters.length <= most) return html`<bdi>${characters.join("")}</bdi>`;
  const more = characters.slice(0, 20 * most).join("");
  return html`<bdi title="${more}">${characters.slice(0, most).join("")}…</bdi>`;
}

/** `owner/name`, each with a direction of its own. */
export function libraryName({ owner, name }: LibraryKey): Html {
  return html`${foreign(owner)}/${foreign(name)}`;
}
