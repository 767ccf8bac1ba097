import type { IncomingHttpHeaders, IncomingMessage } from "node:http";

/** A request as it arrived, and its outcome. */
export interface RecordedRequest {
  readonly method: string;
  /** Exactly as received, still percent-encoded. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** When it arrived, in monotonic milliseconds (`performance.now()`). */
  readonly at: number;
  /** The status of the answer; null until its head is sent. */
  status: number | null;
  /** The kinds of the fault's actions, joined by `+`; null without a fault. */
  fault: string | null;
}

/** If `keep` is false, only violations are recorded, so that a long measurement does not fill the memory. */
export function createRecorder(keep: boolean) {
  const requests: RecordedRequest[] = [];
  /** Requests that simcat must never send, one sentence each. Every good test leaves this empty. */
  const violations: string[] = [];
  return {
    requests,
    violations,
    add(req: IncomingMessage): RecordedRequest {
      const { method = "", url: path = "", headers } = req;
      const record: RecordedRequest = { method, path, headers, at: performance.now(), status: null, fault: null };
      if (keep) requests.push(record);
      if (method !== "GET") violations.push(`${method} ${path}: only GET may ever be sent`);
      return record;
    },
    clearRequests(): void {
      requests.length = 0;
      violations.length = 0;
    },
  };
}
