import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

/** A request as it arrived, and its outcome. */
export interface RecordedRequest {
  readonly method: string;
  /** Exactly as received, percent-encoding and all. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Monotonic milliseconds, as `performance.now()` gives them. */
  readonly at: number;
  /** The status answered; null as long as there is none (which may be for ever). */
  readonly status: number | null;
  /** The kinds of the fault's actions, joined by `+`; null without a fault. */
  readonly fault: string | null;
}

export type OpenRecord = { -readonly [Field in keyof RecordedRequest]: RecordedRequest[Field] };

export interface Recorder {
  readonly requests: readonly RecordedRequest[];
  /** Requests that simcat must never send, one sentence each. */
  readonly violations: readonly string[];
  add(req: IncomingMessage): OpenRecord;
  clear(): void;
}

/** With `keep` false only violations are kept, so that a long measurement does not fill the memory. */
export function createRecorder(keep: boolean): Recorder {
  const requests: OpenRecord[] = [];
  const violations: string[] = [];
  return {
    requests,
    violations,
    add(req) {
      const { method = "", url: path = "", headers } = req;
      const record: OpenRecord = { method, path, headers, at: performance.now(), status: null, fault: null };
      if (keep) requests.push(record);
      if (method !== "GET") violations.push(`${method} ${path}: only GET may ever be sent`);
      return record;
    },
    clear() {
      requests.length = 0;
      violations.length = 0;
    },
  };
}
