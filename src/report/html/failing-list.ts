import { formatCount, plural } from "../../format.ts";
import { errorText, libraryName } from "./elements.ts";
import { type Html, html } from "./html.ts";

interface FailingLibrary {
  readonly owner: string;
  readonly name: string;
  readonly failures: number;
  readonly openRejects?: number;
  readonly lastGoodAt: Date | null;
  readonly lastError: string | null;
}

/** Libraries whose last read failed or has rejects, with the whole errors. `rest`: where to find those that are not listed. */
export function failingList(
  libraries: readonly FailingLibrary[],
  total: number,
  formatTime: (at: Date | null) => Html,
  rest: string,
): Html {
  const items = libraries.map((library) => {
    const counts = [
      ...(library.failures > 0
        ? [library.failures === 1 ? "failed once" : `failed ${formatCount(library.failures)} times in a row`]
        : []),
      ...((library.openRejects ?? 0) > 0 ? [plural(library.openRejects ?? 0, "open reject")] : []),
    ].join(", ");
    const error = library.lastError === null ? null : html`<p>${errorText(library.lastError)}</p>`;
    return html`<li>${libraryName(library)} <small>${counts}; last good copy: ${formatTime(library.lastGoodAt)}</small>${error}</li>\n`;
  });
  const left = total - libraries.length;
  return html`<ul class="items">${items}</ul>${left > 0 ? html`<p class="soft">… and ${formatCount(left)} more; see ${rest}.</p>` : null}`;
}
