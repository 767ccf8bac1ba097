import { expect } from "vitest";
import { InterruptedError } from "../../src/errors.ts";
import { callCli } from "../support/call-cli.ts";
import { type Fixture, syncedFixture } from "../support/fixture.ts";
import type { MockLibrary } from "../support/mock/library.ts";
import { type Gate, gateAfter } from "./gate.ts";

/** A copy of these libraries, and a command, given by `prepare`, that waits after `passing` content requests for `open`. */
export async function waitingRun(
  stored: readonly MockLibrary[],
  passing: number,
  prepare: (made: Fixture) => Promise<readonly string[]>,
) {
  let gate: Gate | null = null;
  const made = await syncedFixture(stored, { onRequest: (request) => gate?.onRequest(request) });
  const command = await prepare(made);
  gate = gateAfter(passing);
  const { reached, open } = gate;
  const stop = new AbortController();
  const running = callCli(command, { ...made.environment, SIMCAT_CONCURRENCY: "2" }, stop.signal);
  await reached;
  /** Ends the run as SIGTERM does. */
  const interrupt = async () => {
    stop.abort(new InterruptedError("SIGTERM"));
    expect((await running).code).toBe(143);
    open();
  };
  return { ...made, running, open, interrupt };
}
