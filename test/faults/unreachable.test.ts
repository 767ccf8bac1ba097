import { createServer } from "node:net";
import { expect, test } from "vitest";
import { serveRaw } from "../service/service-under-test.ts";
import { runCli } from "../support/cli.ts";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { everything, lastRun, logLines } from "./run-results.ts";

/** A port without a listener. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return address.port;
}

test("a refused connection or an unknown host name ends the run after bounded retries (fault 1)", async () => {
  const { simcat, query } = await syncedFixture([library("alice", "Fire", { scenarios: [1] })]);
  const before = await everything(query);

  const refused = await simcat(["sync"], {
    SIMCAT_BASE_URL: `http://127.0.0.1:${await closedPort()}/v1/`,
    SIMCAT_MAX_RETRIES: "2",
  });
  const refusedRun = await lastRun(query);
  const unknown = await simcat(["sync"], { SIMCAT_BASE_URL: "https://simcat.invalid/v1/" });

  expect([refused.code, unknown.code]).toEqual([69, 69]);
  expect(refusedRun).toEqual({ status: "source_unavailable", retries: 2 });
  expect(await lastRun(query)).toEqual({ status: "source_unavailable", retries: 1 });
  expect(logLines(refused).at(-1)).toMatchObject({ code: "source_unavailable", status: "source_unavailable" });
  expect(refused.stdout).toContain("after 3 attempts");
  expect(unknown.stdout).toContain("asked https://simcat.invalid/v1/libs");
  expect(await everything(query)).toEqual(before);
});

test("a listing is tried five times by default, with growing, jittered waits (fault 1)", async () => {
  const { environment } = await fixture([]);
  const service = await serveRaw((socket) => socket.destroy());
  const { SIMCAT_MAX_RETRIES: _, ...defaults } = environment;

  const { code } = await runCli(["sync"], { ...defaults, SIMCAT_BASE_URL: service.url.href });

  expect(code).toBe(69);
  expect(service.targets).toEqual(Array.from({ length: 5 }, () => "/v1/libs"));
  const waits = service.arrivals.slice(1).map((at, index) => at - (service.arrivals[index] ?? 0));
  // Full jitter below 250 ms, 500 ms, 1 s and 2 s, plus one second for a busy machine.
  expect(waits.map((wait, at) => wait < 250 * 2 ** at + 1_000)).toEqual([true, true, true, true]);
  // Without jitter no wait would be shorter than its step.
  expect(waits.some((wait, at) => wait < 250 * 2 ** at - 2)).toBe(true);
});
