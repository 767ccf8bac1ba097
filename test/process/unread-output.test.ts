import { closeSync, openSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { createFullPipe } from "../support/full-pipe.ts";
import { numbered } from "../support/organization.ts";
import { findProgram } from "../support/programs.ts";
import { gateAfter } from "./gate.ts";

const WAIT = { timeout: 20_000, interval: 50 };

const readExpiry = "SELECT expires_at::text AS at, expires_at > clock_timestamp() AS live FROM simcat.leases";

function openForChild(path: string): number {
  const descriptor = openSync(path, "r+");
  onTestFinished(() => closeSync(descriptor));
  return descriptor;
}

/** Prints the child's process id and, at its end, its exit code. Its standard error is a terminal that accepts no more output. */
const RUN_ON_STOPPED_TERMINAL = `
import os, pty, subprocess, sys
main, terminal = pty.openpty()
os.set_blocking(terminal, False)
try:
    while True: os.write(terminal, b"x" * 512)
except BlockingIOError: pass
os.set_blocking(terminal, True)
child = subprocess.Popen(sys.argv[1:], stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal)
print(child.pid, flush=True)
print(child.wait(), flush=True)
`;
const python = findProgram("python3", "python3");

test("a run keeps its lease and hears SIGTERM while its log is not read (fault 144)", async () => {
  const gate = gateAfter(14);
  const { environment, query, lines } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const stderr = openForChild(createFullPipe().path);
  const settings = { ...environment, SIMCAT_LOG_LEVEL: "trace" };
  const running = startProgram(process.execPath, [MAIN, "sync"], settings, { stdio: ["ignore", "pipe", stderr] });
  await gate.reached;
  const [taken] = await query(readExpiry);
  await vi.waitFor(async () => expect((await query(readExpiry))[0]).not.toEqual(taken), WAIT);
  expect(await query(readExpiry)).toMatchObject([{ live: true }]);

  const askedAt = performance.now();
  running.process.kill("SIGTERM");
  expect((await running.ended).code).toBe(143);
  expect(performance.now() - askedAt).toBeLessThan(3_000);
  expect(await lines("SELECT status FROM simcat.sync_runs")).toEqual(["interrupted"]);
});

test.runIf(python)("a run hears SIGTERM while its terminal is stopped (fault 144)", async () => {
  const gate = gateAfter(14);
  const { environment } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const settings = { ...environment, SIMCAT_LOG_LEVEL: "trace" };
  const command = ["-c", RUN_ON_STOPPED_TERMINAL, process.execPath, MAIN, "sync"];
  const running = startProgram(python ?? "", command, settings);
  await gate.reached;

  const askedAt = performance.now();
  process.kill(Number(running.output()), "SIGTERM");
  expect((await running.ended).stdout.split("\n")[1]).toBe("143");
  expect(performance.now() - askedAt).toBeLessThan(3_000);
});

test("data waits for its reader: a stop signal ends the wait, but not with 0 (fault 144)", async () => {
  const { environment, lines } = await fixture(numbered(20));
  const pipe = createFullPipe();
  const stdout = openForChild(pipe.path);
  const sync = () =>
    startProgram(process.execPath, [MAIN, "sync", "--json"], environment, { stdio: ["ignore", stdout, "pipe"] });
  const statuses = () => lines("SELECT status FROM simcat.sync_runs");

  const stopped = sync();
  await expect.poll(statuses).toEqual(["ok"]);
  stopped.process.kill("SIGTERM");
  expect((await stopped.ended).code).toBe(143);

  const patient = sync();
  await expect.poll(statuses).toEqual(["ok", "ok"]);
  expect(patient.process.exitCode).toBe(null);
  expect(pipe.read()).toBe("");
  expect((await patient.ended).code).toBe(0);
  expect(JSON.parse(pipe.read())).toMatchObject({ status: "ok" });
});
