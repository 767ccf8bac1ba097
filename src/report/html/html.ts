const MARKUP = Symbol("markup");

/** Markup that goes into a page as it is. Only this file makes it, so that no text from elsewhere can pass for it. */
export interface Html {
  readonly [MARKUP]: string;
}

export type Part = string | number | null | Html | readonly Part[];

/** What HTML cannot carry at all: controls, halves of a character. */
const UNSPEAKABLE = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufdd0-\ufdef\ufffe\uffff]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(UNSPEAKABLE, "\ufffd").replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}

/** A template whose parts are text, escaped, unless they are markup themselves; null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [MARKUP]: strings.map((string, at) => string + toMarkup(parts[at] ?? null)).join("") };
}

/** Markup of our own that is no template. Never for anything that came from elsewhere. */
export function ownMarkup(markup: string): Html {
  return { [MARKUP]: markup };
}

export function toMarkup(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string") return escapeHtml(part);
  if (typeof part === "number") return String(part);
  return MARKUP in part ? part[MARKUP] : part.map(toMarkup).join("");
}
