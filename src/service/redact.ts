import type { Reject } from "../model.ts";
import { printable } from "../printable.ts";

/** Makes text of the service safe for a message: no secret, no control characters, at most `maxLength` characters. */
export type Quote = (text: string, maxLength?: number) => string;

const DEFAULT_MAX_LENGTH = 200;

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
