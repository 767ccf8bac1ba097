import { describe, expect, it } from "vitest";
import { RunTotals } from "../../src/sync/run-totals.ts";
import { warnOfIdleRuns, warnOfThrottling } from "../../src/sync/warnings.ts";

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
        "the service throttled 51 of 1,000 requests (5.1 %) with 429 or 503. Set SIMCAT_MAX_RPS to the requests per second that the service allows",
    },
  ]);
});

it("does not mention throttled requests up to 5 %, nor if the service accepted no request at all", () => {
  expect([...warnings(50, 1000), ...warnings(0, 0), ...warnings(1, 1), ...warnings(5, 5)]).toEqual([]);
});

describe("idle runs", () => {
  const idle = { librariesListed: 10, librariesRead: 9, librariesChanged: 0 };
  const warningAfter = (...earlier: Parameters<typeof warnOfIdleRuns>[1]) => {
    const totals = new RunTotals();
    Object.assign(totals.counts, idle);
    warnOfIdleRuns(totals, earlier);
    return totals.warnings.map(({ message }) => message.slice(0, 15));
  };

  it("warns from the third in a row", () => {
    expect(warningAfter(idle)).toEqual([]);
    expect(warningAfter(idle, idle)).toEqual(["the last 3 runs"]);
  });

  it.each([
    ["has fewer than ten libraries", { ...idle, librariesListed: 9 }],
    ["read fewer than nine in ten", { ...idle, librariesRead: 8 }],
    ["found a change", { ...idle, librariesChanged: 1 }],
  ])("counts only up to a run that %s", (_, busy) => {
    expect(warningAfter(idle, busy, idle)).toEqual([]);
    expect(warningAfter(idle, idle, busy, idle)).toEqual(["the last 3 runs"]);
  });
});
