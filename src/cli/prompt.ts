import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { isatty, ReadStream } from "node:tty";
import { InterruptedError } from "../errors.ts";
import type { Context } from "./context.ts";

export interface Prompt {
  /** Returns the answer, trimmed. A hidden one is not shown while it is typed. @throws InterruptedError at Ctrl-C and Ctrl-D */
  ask(question: string, options?: { readonly isHidden: boolean }): Promise<string>;
  close(): void;
}

/** Asks on the terminal. Null if nobody can answer: standard input or standard error is no terminal. */
export function openPrompt({ terminal, draw, stop }: Context): Prompt | null {
  if (!terminal.isErr || !isatty(0)) return null;
  let isMuted = false;
  const output = new Writable({
    write(text, _encoding, done) {
      if (!isMuted) draw(String(text));
      done();
    },
  });
  const lines = createInterface({ input: new ReadStream(0), output, terminal: true });
  const ended = new AbortController();
  const onEnd = () => ended.abort(new InterruptedError("SIGINT"));
  lines.on("SIGINT", onEnd).on("close", onEnd);
  return {
    async ask(question, { isHidden } = { isHidden: false }) {
      const answered = lines.question(question, { signal: AbortSignal.any([ended.signal, stop]) });
      isMuted = isHidden;
      try {
        return (await answered).trim();
      } catch {
        stop.throwIfAborted();
        throw ended.signal.reason;
      } finally {
        isMuted = false;
        if (isHidden) draw("\n");
      }
    },
    close: () => lines.off("close", onEnd).close(),
  };
}
