const MARKUP = Symbol("markup");

/** Markup that is inserted without escaping. Only this file creates it, so text from outside cannot be mistaken for it. */
export interface Html {
  readonly [MARKUP]: string;
}

export type Part = string | number | null | Html | readonly Part[];

/** Characters that HTML does not allow: controls, lone surrogates, noncharacters. */
const DISALLOWED = /(?![\t\n\r])[\p{Cc}\p{Cs}\ufdd0-\ufdef\ufffe\uffff]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Builds markup from a template. Text parts are escaped, markup parts are inserted as they are, null is left out. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { [MARKUP]: strings.map((string, index) => string + toMarkup(parts[index] ?? null)).join("") };
}

/** Text is escaped for use between tags and in quoted attributes. */
export function toMarkup(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string")
    return part.replace(DISALLOWED, "\ufffd").replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
  if (typeof part === "number") return String(part);
  return MARKUP in part ? part[MARKUP] : part.map(toMarkup).join("");
}
