import { closeSync, constants, openSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { StandardStream } from "../../src/cli/standard-stream.ts";
import { createFullPipe } from "../support/full-pipe.ts";

function openStream(path: string, dropping?: { afterMs: number; formatLost: (lines: number) => string }) {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(descriptor));
  return new StandardStream({ descriptor, isIgnored: () => false, ...(dropping ? { dropping } : {}) });
}

const never = new AbortController().signal;
const DROPPING = { afterMs: 0, formatLost: (lines: number) => `${lines} lost\n` };

test("text waits for the reader of a full pipe, in order and whole", async () => {
  const pipe = createFullPipe();
  const stream = openStream(pipe.path);
  const long = `${"x".repeat(200_000)}\n`;
  for (const text of ["first\n", long, "last\n"]) stream.write(text);
  let received = "";
  const drained = stream.drain(never);
  await vi.waitFor(() => {
    received += pipe.read();
    expect(received).toHaveLength(long.length + 11);
  });
  await drained;
  expect(received).toBe(`first\n${long}last\n`);
});

test("lines are dropped while earlier text waits too long, and counted when the pipe moves (fault 144)", async () => {
  const pipe = createFullPipe();
  const stream = openStream(pipe.path, DROPPING);
  for (const text of ["kept\n", "lost\n", "\r10 %", "lost\nlost\n"]) stream.write(text);
  await stream.drain(never);
  let received = pipe.read();
  await vi.waitFor(() => {
    received += pipe.read();
    expect(received).toBe("kept\n3 lost\n");
  });
  stream.write("heard again\n");
  expect(pipe.read()).toBe("heard again\n");
});

test("a stop signal ends the wait for a reader, and an error is thrown once", async () => {
  const pipe = createFullPipe();
  const stream = openStream(pipe.path);
  stream.write("data\n");
  await expect(stream.drain(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");

  const full = openStream("/dev/full");
  expect(() => full.write("data\n")).toThrow("ENOSPC");
  await full.drain(never);
});
