import { closeSync, constants, openSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { openStandardStream } from "../../src/cli/standard-stream.ts";
import { createFullPipe } from "../support/full-pipe.ts";

function openStream(path: string, formatLost?: (lines: number) => string) {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(descriptor));
  return openStandardStream(descriptor, () => false, formatLost);
}

const never = new AbortController().signal;

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

test("lines are dropped when earlier text has waited for 2 s, and counted when the pipe moves (fault 144)", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const pipe = createFullPipe();
  const stream = openStream(pipe.path, (lines) => `${lines} lost\n`);
  stream.write("kept\n");
  vi.advanceTimersByTime(1_999);
  stream.write("kept too\n");
  vi.advanceTimersByTime(1);
  for (const text of ["lost\n", "\r10 %", "lost\nlost\n"]) stream.write(text);
  await stream.drain(never);
  pipe.read();
  vi.advanceTimersByTime(20);
  expect(pipe.read()).toBe("kept\nkept too\n3 lost\n");
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
