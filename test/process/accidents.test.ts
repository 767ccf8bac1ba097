import { join } from "node:path";
import { expect, test } from "vitest";
import { told } from "../postgres/told.ts";
import { MAIN, startProgram } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { numbered } from "../support/organization.ts";
import { findProgram } from "../support/programs.ts";
import { readableProject } from "../support/readable-project.ts";
import { gateAfter } from "./gate.ts";
import { expireLease, serviceRows, storedRows } from "./service-rows.ts";

/** Code that a signal runs inside the program, to simulate a bug. */
const onSignal = (code: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => { ${code} });`)}`;

/** A run that this code in its process ends after the content of some libraries was stored; then a good one. */
async function endWith(code: string) {
  const gate = gateAfter(10);
  const { start, call, query, lines, service } = await fixture(numbered(20), { onRequest: gate.onRequest });
  const options = `--max-old-space-size=100 ${onSignal(code)}`;
  const running = start(["sync"], { NODE_OPTIONS: options, SIMCAT_CONCURRENCY: "2" });
  await gate.reached;
  await expect.poll(() => query("SELECT 1 FROM simcat.libraries")).not.toEqual([]);

  running.process.kill("SIGUSR2");
  const ended = await running.ended;

  gate.open();
  const runs = "SELECT status, 'ended:', finished_at IS NOT NULL FROM simcat.sync_runs ORDER BY id";
  expect(await lines(runs)).toEqual(["running ended: false"]);
  await expireLease(query);
  expect((await call(["sync"])).code).toBe(0);
  expect(await lines(runs)).toEqual(["abandoned ended: true", "ok ended: true"]);
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  return ended;
}

test.each([
  ["an exception that nobody catches", `throw new Error("a bug of the test's");`],
  ["a rejection that nobody handles", `Promise.reject(new Error("a bug of the test's"));`],
])("%s during a run exits with 1 and a log line; the next run marks its row abandoned (fault 66)", async (_, code) => {
  const said = expect.stringContaining("a bug of the test's");
  expect(told(await endWith(code))).toEqual({ exit: 1, code: "failed", said });
});

test.each([
  ["a lack of memory", "const all = []; for (;;) all.push(new Array(1e5).fill({}));", "SIGABRT", "heap out of memory"],
  ["kill -9", 'process.kill(process.pid, "SIGKILL");', "SIGKILL", ""],
])("%s keeps what was stored; the next run does the rest (faults 62, 66)", async (_, code, signal, says) => {
  expect(await endWith(code)).toMatchObject({ code: null, signal, stderr: expect.stringContaining(says) });
});

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.log("skipped: a foreign user and a read-only root need root");
const hasTools = isRoot && ["setpriv", "unshare"].every((name) => findProgram(name, "util-linux") !== null);
const project = hasTools ? readableProject() : "";

test.skipIf(!hasTools)(
  "sync, backfill and status work on a read-only root, as any user, without HOME or working directory (fault 68)",
  async () => {
    const { environment, query, service } = await fixture(numbered(20));
    const main = join(project, "dist/main.js");
    const script = `gone=$(mktemp -d) && chmod 755 "$gone" && cd "$gone" && rmdir "$gone" && mount --make-rprivate / && mount -o remount,bind,ro / && exec setpriv --reuid 54321 --regid 54321 --clear-groups "$@"`;
    const own = ["if touch /tmp/simcat-probe 2>/dev/null; then echo writable; exit 99; fi", `exec "$@"`].join("\n");

    for (const command of ["sync", "backfill", "status"]) {
      const args = ["-m", "sh", "-c", script, "sh", "sh", "-c", own, "sh", process.execPath, main, command];
      const { code, stderr } = await startProgram("unshare", args, environment).ended;
      expect(code, stderr).toBe(0);
    }
    expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  },
);

test("`| head -1` prints its line, and the program keeps its exit code (fault 69)", async () => {
  const { environment } = await fixture(numbered(20));
  const script = `"$0" "$1" sync | head -1; echo "\${PIPESTATUS[0]}"`;

  const { stdout } = await startProgram("bash", ["-c", script, process.execPath, MAIN], environment).ended;

  expect(stdout).toMatch(/^sync ok in .* \(run 1\)\n0\n$/);
});
