import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { holdLocks, untilSession, WAITS_FOR_LOCK } from "../postgres/sessions.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { listen } from "../support/listen.ts";
import type { MockService } from "../support/mock/mock-service.ts";
import { numbered } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { gateAfter, gateBeforeListing } from "./gate.ts";
import { serviceRows, storedRows } from "./service-rows.ts";

/** Names of the libraries that the service has sent completely. */
function sentWhole({ requests }: MockService): string[] {
  const sent = requests.filter(({ status }) => status === 200).map(({ path }) => path.split("/").slice(-2));
  const names = sent.filter(([, what]) => what === "scenarios").map(([name]) => decodeURIComponent(name ?? ""));
  return names
    .filter((name) => sent.some(([of, what]) => of === encodeURIComponent(name) && what === "metadata"))
    .sort();
}

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)(
  "%s during a run ends it with %i: what was read is stored, the next run reads the rest (fault 63)",
  async (signal, code) => {
    const gate = gateAfter(14);
    const { start, call, query, lines, service, asked } = await fixture(numbered(20), { onRequest: gate.onRequest });
    const running = start(["sync"], { SIMCAT_CONCURRENCY: "2" });
    await gate.reached;

    const askedAt = performance.now();
    running.process.kill(signal);
    const ended = await running.ended;

    expect(ended.code).toBe(code);
    expect(performance.now() - askedAt).toBeLessThan(5_000);
    expect(ended.stdout).toContain(`stopped by ${signal}; what was stored stays; simcat status says how to continue`);
    const read = sentWhole(service);
    expect(read.length).toBeGreaterThanOrEqual(6);
    const stored = `SELECT library_name, count(scenario_id) FROM simcat.libraries JOIN simcat.scenarios USING (owner, library_name)
      GROUP BY 1 ORDER BY library_name COLLATE "C"`;
    expect(await lines(stored)).toEqual(read.map((name) => `${name} 3`));
    const run = `SELECT status, libraries_listed, 'listed', libraries_read, 'read', libraries_failed, 'failed', libraries_removed, 'removed'
      FROM simcat.sync_runs WHERE finished_at IS NOT NULL`;
    expect(await lines(run)).toEqual([`interrupted 20 listed ${read.length} read 0 failed 0 removed`]);
    expect(await lines("SELECT expires_at::text FROM simcat.leases")).toEqual(["-infinity"]);
    const owing = "SELECT library_name FROM simcat.library_sync WHERE reread_reason IS NOT NULL OR failures > 0";
    expect(await lines(owing)).toEqual([]);

    gate.open();
    asked();
    expect((await call(["sync"])).code).toBe(0);
    expect(asked()).toHaveLength(1 + 2 * (20 - read.length));
    expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  },
);

test("SIGTERM during the listing ends the run as interrupted; nothing is stored or removed (fault 63)", async () => {
  const gate = gateBeforeListing();
  const { start, lines } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const running = start(["sync"]);
  await gate.reached;

  running.process.kill("SIGTERM");

  expect((await running.ended).code).toBe(143);
  expect(await lines("SELECT status, libraries_listed FROM simcat.sync_runs")).toEqual(["interrupted 0"]);
  expect(await lines("SELECT library_name FROM simcat.library_sync")).toEqual([]);
});

test("SIGTERM while waiting for a lease ends with 143, without a run row or a request (faults 63, 64)", async () => {
  const { start, query, lines, asked } = await fixture(numbered(20));
  await query("INSERT INTO simcat.leases VALUES ('sync', 'elsewhere:1', 7, clock_timestamp() + interval '1 hour')");
  const running = start(["sync"]);
  // Between two checks of the lease, which are half a second apart.
  await untilSession(query, "state = 'idle' AND state_change < clock_timestamp() - interval '200 ms'");

  running.process.kill("SIGTERM");

  expect((await running.ended).code).toBe(143);
  expect(asked()).toEqual([]);
  expect(await lines("SELECT status FROM simcat.sync_runs")).toEqual([]);
  expect(await lines("SELECT holder, token FROM simcat.leases")).toEqual(["elsewhere:1 7"]);
});

test.each(["SIGTERM", "SIGHUP"] as const)(
  "SIGTERM after %s ends a run that waits for a lock at once and leaves a whole copy (fault 63)",
  async (signal) => {
    const { start, call, query, lines, service, database } = await fixture(numbered(20));
    const blocker = await holdLocks(database, "LOCK TABLE simcat.scenarios IN SHARE MODE");
    const running = start(["sync"]);
    await untilSession(query, WAITS_FOR_LOCK);
    await vi.waitFor(() => expect(service.requests).toHaveLength(41), { timeout: 10_000 });
    const askedAt = performance.now();
    running.process.kill(signal);
    // Two signals count as one if the second arrives before the first is handled.
    const insisting = setInterval(() => running.process.kill("SIGTERM"), 50);
    const { code } = await running.ended;
    clearInterval(insisting);

    expect(code).toBe(143);
    expect(performance.now() - askedAt).toBeLessThan(2_000);
    await blocker.query("ROLLBACK");
    await query("UPDATE simcat.leases SET expires_at = '-infinity'");
    expect((await call(["sync"])).code).toBe(0);
    expect(await storedRows(query)).toEqual(serviceRows(service.organization));
    expect(await lines("SELECT status FROM simcat.sync_runs ORDER BY id")).toEqual(["abandoned", "ok"]);
  },
);

test("SIGTERM while the database does not answer ends with 143 at once (faults 63, 77)", async () => {
  const silent = createServer(() => {});
  const port = await listen(silent);
  const connected = new Promise<void>((resolve) => silent.once("connection", () => resolve()));
  const { start, asked } = await fixture([]);
  const running = start(["sync"], { DATABASE_URL: `postgres://simcat@127.0.0.1:${port}/simcat` });
  await connected;

  const askedAt = performance.now();
  running.process.kill("SIGTERM");

  expect(await running.ended).toMatchObject({ code: 143, stderr: expect.not.stringContaining("still open") });
  expect(performance.now() - askedAt).toBeLessThan(1_500);
  expect(asked()).toEqual([]);
});

/** The usual ways to use `nohup`: before simcat, and before a script that runs simcat. */
const NOHUP: readonly (readonly [how: string, command: (program: string, script: string) => string])[] = [
  ["before the command", (program) => `nohup ${program} sync; exit $?`],
  ["before a script that runs the command", (_, script) => `nohup bash ${script}`],
];

test.runIf(process.platform === "linux").each(NOHUP)(
  "nohup %s lets a run survive SIGHUP and end well (fault 71)",
  async (_, command) => {
    const gate = gateAfter(14);
    const { environment, query, lines, service } = await fixture(numbered(20), { onRequest: gate.onRequest });
    const script = join(temporaryDirectory(), "script");
    const program = `'${process.execPath}' '${MAIN}'`;
    writeFileSync(script, `${program} sync\nexit $?\n`);
    const running = startProgram("bash", ["-c", command(program, script)], environment, { detached: true });
    await gate.reached;

    // Sent to the whole group, as a closing terminal does. The outer shell of the first variant dies.
    process.kill(-(running.process.pid ?? 0), "SIGHUP");
    gate.open();

    await expect.poll(() => lines("SELECT status FROM simcat.sync_runs")).toEqual(["ok"]);
    expect(await storedRows(query)).toEqual(serviceRows(service.organization));
    await running.ended;
  },
);
