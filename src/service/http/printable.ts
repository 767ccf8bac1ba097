import type { Reject } from "../../model.ts";

/** Controls, bidirectional marks, line and paragraph separators, lone surrogates: whatever could forge a line or an escape. */
const HOSTILE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;

function escapeChar(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Text from the service, made safe to stand in a message: at most `max` characters, nothing hostile, no secret. */
export type Printable = (text: string, max?: number) => string;

const LONGEST = 200;

/** The key is taken out as it is, and as JSON or a URL would write it. */
export function hideKey(apiKey: string): (text: string) => string {
  const json = JSON.stringify(apiKey).slice(1, -1);
  const forms = [apiKey, json, json.replaceAll("/", "\\/"), encodeURIComponent(apiKey)];
  const hidden = [...new Set(forms)].filter((form) => form !== "").sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, form) => rest.replaceAll(form, "[key]"), text);
}

/** A reject quotes the item that it was made of, and an item may echo the request. */
export function hideInReject(reject: Reject, hide: (text: string) => string): Reject {
  const { path, reason, payload } = reject;
  return { ...reject, path: hide(path), reason: hide(reason), payload: hide(payload) };
}

export function makePrintable(hide: (text: string) => string): Printable {
  return (text, max = LONGEST) => {
    const safe = hide(text).replace(HOSTILE, escapeChar).trim();
    return safe.length > max ? `${safe.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…` : safe;
  };
}
