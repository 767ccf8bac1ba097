import { expect, it } from "vitest";
import { RunTotals } from "../../src/sync/run-totals.ts";
import { warnOfThrottling } from "../../src/sync/warnings.ts";

function warnings(throttled: number, requests: number) {
  const totals = new RunTotals();
  totals.counts.requests = requests;
  warnOfThrottling(totals, throttled);
  return totals.warnings;
}

it("names SIMCAT_MAX_RPS when more than 5 % of the requests were throttled", () => {
  expect(warnings(51, 1000)).toEqual([
    {
      code: "requests_throttled",
      message:
        "the service throttled 51 of 1000 requests (5.1 %) with 429 or 503; the run slowed down and repeated them. Set SIMCAT_MAX_RPS to the requests per second that the service allows",
    },
  ]);
});

it("does not mention throttled requests up to 5 %", () => {
  expect([...warnings(50, 1000), ...warnings(0, 0)]).toEqual([]);
});
