import type { Reject } from "../model.ts";
import { printable } from "../printable.ts";

/** Makes text of the service safe for a message: no secret, no control characters, at most `maxLength` characters. */
export type Quote = (text: string, maxLength?: number) => string;

const DEFAULT_MAX_LENGTH = 200;

/** Replaces the key with `[key]`, also as JSON or a URL encodes it. */
export function redactKey(apiKey: string): (text: string) => string {
  const json = JSON.stringify(apiKey).slice(1, -1);
  const forms = [apiKey, json, json.replaceAll("/", "\\/"), encodeURIComponent(apiKey)];
  const longestFirst = [...new Set(forms)].filter((form) => form !== "").sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((redacted, form) => redacted.replaceAll(form, "[key]"), text);
}

/** Redacts a reject, because it quotes an item, and the service may have echoed the request in it. */
export function redactReject(reject: Reject, redact: (text: string) => string): Reject {
  const { path, reason, payload } = reject;
  return { ...reject, path: redact(path), reason: redact(reason), payload: redact(payload) };
}

export function createQuote(redact: (text: string) => string): Quote {
  return (text, maxLength = DEFAULT_MAX_LENGTH) => {
    const safe = printable(redact(text)).trim();
    return safe.length > maxLength ? `${safe.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…` : safe;
  };
}
