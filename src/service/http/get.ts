import { sleep } from "../../async.ts";
import { attempt } from "./attempt.ts";
import type { AttemptFailure } from "./attempt-failure.ts";
import type { Ask, Desk } from "./desk.ts";
import type { StopSignal } from "./life.ts";
import { askedToWait, decideRetry, type Setback } from "./retry.ts";

/** A GET brought nothing, and will not be tried again. */
export class FailedGet extends Error {
  readonly path: string;
  readonly failure: AttemptFailure;
  readonly setback: Setback;
  readonly attempts: number;
  readonly why: "final" | "attempts" | "asked_too_long" | "no_success";
  constructor(path: string, failure: AttemptFailure, setback: Setback, attempts: number, why: FailedGet["why"]) {
    super(failure.message);
    this.name = "FailedGet";
    this.path = path;
    this.failure = failure;
    this.setback = setback;
    this.attempts = attempts;
    this.why = why;
  }
}

/** Waits; false when the service has been asking to wait for too long without one success anywhere. */
async function waitOut(delayMs: number, bounded: boolean, desk: Desk, signal: StopSignal): Promise<boolean> {
  const until = performance.now() + delayMs;
  for (;;) {
    const now = performance.now();
    const since = bounded ? desk.pulse.askedSince() : null;
    const end = since === null ? Number.POSITIVE_INFINITY : since + desk.patienceMs;
    if (now >= end) return false;
    if (now >= until) return true;
    await sleep(Math.min(until, end) - now, signal);
  }
}

/**
 * A GET with its retries, each around all of it: connecting, headers, body, parsing. Throws FailedGet, the signal's
 * reason, or whatever a sink threw.
 */
export async function get<T>(desk: Desk, ask: Ask<T>, signal: StopSignal): Promise<T> {
  const { pulse, pauses, policy, counters, onEvent } = desk;
  const { operation, path, resource, patient } = ask;
  let used = 0;
  let failures = 0;
  let staleForgiven = false;
  let seen = pulse.successes();
  let waited = 0;
  for (;;) {
    // In no slot, so that a library that asked to wait holds up nothing else.
    for (let now = performance.now(); now < pauses.until(resource); now = performance.now()) {
      await sleep(pauses.until(resource) - now, signal);
    }
    const result = await attempt(desk, ask, signal);
    if (result.kind === "answered") return result.value;
    if (result.kind === "held_back") continue;
    const { failure, setback } = result;
    const stop = (why: FailedGet["why"]) => new FailedGet(path, failure, setback, failures + 1, why);
    const successes = pulse.successes();
    // A library that is throttled for this long while others succeed has a fault of its own.
    const isPatient = patient && waited < desk.patienceMs;
    const history = { used, failures, staleForgiven, patient: isPatient, othersSucceeded: successes > seen };
    seen = successes;
    const verdict = decideRetry(setback, history, policy, Math.random());
    if (verdict.kind === "stop" && verdict.why === "final") throw stop("final");
    const delayMs = verdict.kind === "retry" ? verdict.delayMs : 0;
    if (verdict.kind !== "stop") onEvent({ kind: "retry", operation, reason: failure.message, delayMs });
    const hopeful = await waitOut(delayMs, patient && askedToWait(setback), desk, signal);
    if (!hopeful) throw stop("no_success");
    if (verdict.kind === "stop") throw stop(verdict.why);
    waited += delayMs;
    counters.retries++;
    if (verdict.kind === "again") {
      staleForgiven = true;
      continue;
    }
    failures++;
    if (verdict.counted) used++;
  }
}
