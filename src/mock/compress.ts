import type { IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { type Answer, withHeader } from "./answer.ts";

/** Gzips an answer for those who accept it; each body once. */
export function createCompressor(): (answer: Answer, req: IncomingMessage) => Answer {
  const compressed = new WeakMap<Buffer, Buffer>();
  return (answer, req) => {
    const accepted = req.headers["accept-encoding"];
    if (typeof accepted !== "string" || !/\bgzip\b/.test(accepted)) return answer;
    if (answer.body.length === 0 || answer.headers.includes("content-encoding")) return answer;
    const body = compressed.get(answer.body) ?? gzipSync(answer.body);
    compressed.set(answer.body, body);
    return withHeader({ ...answer, body }, "content-encoding", "gzip");
  };
}
