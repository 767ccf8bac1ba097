import { expect, onTestFinished, vi } from "vitest";
import { start } from "../../src/cli/start.ts";
import { InterruptedError } from "../../src/errors.ts";
import type { toReadyJson } from "../../src/worker/worker-status.ts";
import { createContext } from "../support/call-cli.ts";
import { assertSchema } from "../support/json-schemas.ts";

type LogLine = Readonly<Record<string, unknown>>;

type Readiness = Omit<ReturnType<typeof toReadyJson>, "next_run"> & { readonly next_run: string };

export const EVERY_SECOND = "*/1 * * * * *";
/** Never due within a test, unless it is New Year's Eve. */
export const YEARLY = "0 0 1 1 *";

/** Runs `simcat start` within this process, on a free port. */
export function startWorker(environment: Readonly<Record<string, string>>) {
  const stop = new AbortController();
  const lines: LogLine[] = [];
  const settings = { SIMCAT_HTTP_PORT: "0", SIMCAT_SCHEDULE: YEARLY, ...environment };
  const draw = (text: string) => void lines.push(JSON.parse(text));
  const context = { ...createContext(settings, stop.signal), version: "9.9.9", draw };
  const ended = start(context);
  // A test that expects a failure awaits `ended` itself.
  ended.catch(() => {});
  /** The lines with this code so far. */
  const logged = (code: string) => lines.filter((line) => line.code === code);
  /** Waits until the given number of lines with this code have been logged. */
  const untilLogged = async (code: string, times = 1) => {
    await vi.waitFor(() => {
      if (logged(code).length < times) throw new Error(`no ${code} yet in ${JSON.stringify(lines)}`);
    }, WAIT);
    return logged(code)[times - 1] as LogLine;
  };
  const get = async (path: string) => {
    const { url } = await untilLogged("worker_started");
    return fetch(`${url}${path}`);
  };
  const readyz = async () => {
    const response = await get("/readyz");
    const body: unknown = await response.json();
    assertSchema("ready", body);
    return { status: response.status, body: body as Readiness };
  };
  /** Waits until /readyz answers with this status and these codes, at least the first ones. */
  const untilReadyz = (expected: number, ...codes: readonly string[]) =>
    vi.waitFor(async () => {
      const { status, body } = await readyz();
      const found = body.reasons.map(({ code }) => code).slice(0, codes.length || undefined);
      expect([status, ...found]).toEqual([expected, ...codes]);
      return body;
    }, WAIT);
  /** The value of one series, by its full name. */
  const metric = async (series: string) => {
    const text = await (await get("/metrics")).text();
    const line = text.split("\n").find((one) => one.startsWith(`${series} `));
    return Number(line?.slice(series.length + 1).replace("+Inf", "Infinity") ?? Number.NaN);
  };
  /** Stops the worker as the first signal does. Returns the exit code. */
  const stopNow = () => {
    stop.abort(new InterruptedError("SIGTERM"));
    return ended;
  };
  onTestFinished(async () => {
    await stopNow().catch(() => {});
  });
  return { lines, ended, stop: stopNow, logged, untilLogged, get, readyz, untilReadyz, metric };
}

export const WAIT = { timeout: 30_000, interval: 20 };
