import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { organizationOf } from "../../src/mock/organization.ts";
import { createRandom } from "../../src/mock/random.ts";
import { parseRoute } from "../../src/mock/server.ts";
import { EVERYTHING } from "../../src/sync/rules/selection.ts";
import { createDateSource } from "../support/mock/date-source.ts";
import { EDITS } from "../support/mock/edits.ts";
import { startMockService } from "../support/mock/server.ts";
import { GOOD, saidOfMetadata, saidOfScenarios } from "./answers.ts";
import { difference } from "./check-equal.ts";
import { type Heard, openLedger } from "./ledger.ts";
import { keyOf, look } from "./reader.ts";
import { API_KEY } from "./sim-service.ts";
import type { TestServer } from "./simulation.ts";
import { drawLibraries } from "./world.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const EDITED = ["runParent", "addParent", "editScenario", "deleteScenario", "editMetadata", "addLibrary"] as const;

/**
 * Runs the built command line as a real process, in real time: SIGKILL at a request that the seed selects, then one quiet
 * backfill, while a reader polls continuously. The seed does not determine the exact statement at which the kill occurs.
 */
export async function killProcesses(seed: number, server: TestServer, kills: number): Promise<string[]> {
  const { control } = server;
  await control.empty();
  await control.setClock(Date.now(), "anew");
  const random = createRandom(seed);
  const dateSource = createDateSource();
  const organization = organizationOf(drawLibraries(random, dateSource));
  const ledger = openLedger(100);
  let heard: Heard = ledger.open("none", false, EVERYTHING);
  let asked = () => {};
  const service = await startMockService({
    organization,
    apiKey: API_KEY,
    latencyMs: 2,
    onRequest({ path }) {
      const route = parseRoute(path);
      if (route.kind === "listing") {
        const keys = new Set(organization.libraries().map((one) => keyOf(one.owner, one.name)));
        heard.listing = { keys, complete: true, dates: new Map(), cachedAt: null, bad: new Set() };
      } else if (route.kind === "metadata" || route.kind === "scenarios") {
        const library = organization.get(route.owner, route.name);
        const said = route.kind === "metadata" ? saidOfMetadata : saidOfScenarios;
        if (library) ledger.said(heard, keyOf(route.owner, route.name), route.kind, said(library, GOOD));
      }
      asked();
      return undefined;
    },
  });
  const wrong: string[] = [];
  const note = (which: string, lines: readonly string[]) => wrong.push(...lines.map((line) => `${which}: ${line}`));
  const start = (...args: string[]) => startProcess(args, service.url, server.databaseUrl);
  let which = "";
  let looking = true;
  const looked = (async () => {
    while (looking) note(which, ledger.check(await look(control)));
  })();
  try {
    for (let kill = 1; kill <= kills && wrong.length === 0; kill += 1) {
      for (let edit = random.below(6); edit > 0 && organization.size > 0; edit -= 1) {
        EDITS[random.pick(EDITED)](organization, random.pick(organization.libraries()), random, dateSource);
      }
      let left = random.below(2 * organization.size + 2);
      which = `seed ${seed}, kill ${kill}, ${left} requests`;
      heard = ledger.open(`doomed ${kill}`, false, EVERYTHING);
      const doomed = random.chance(0.5) ? start("sync") : start("backfill", "--restart");
      const reached = new Promise<void>((resolve) => {
        asked = () => {
          left -= 1;
          if (left < 0) resolve();
        };
      });
      await Promise.race([reached, doomed.ended]);
      doomed.process.kill("SIGKILL");
      await doomed.ended;
      await control.query("UPDATE simcat.leases SET expires_at = sim.clock_timestamp() - interval '1 second'");
      heard = ledger.open(`quiet ${kill}`, false, EVERYTHING);
      const code = await start("backfill").ended;
      if (code !== 0) note(which, [`the quiet run ended with ${code}`]);
      const sight = await look(control);
      note(which, ledger.check(sight));
      for (const library of organization.libraries()) {
        const found = difference(library, sight.get(keyOf(library.owner, library.name)));
        if (found !== null) note(which, [`${library.owner}/${library.name} ${found}`]);
      }
      ledger.settle(sight);
    }
  } finally {
    looking = false;
    await looked;
    await service.stop();
  }
  return [...wrong, ...service.violations];
}

interface Process {
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
}

function startProcess(args: readonly string[], serviceUrl: string, databaseUrl: string): Process {
  const cwd = mkdtempSync(join(tmpdir(), "simcat-simulation-cwd-"));
  const env = {
    PATH: process.env.PATH,
    SIMCAT_BASE_URL: serviceUrl,
    SIMCAT_API_KEY: API_KEY,
    DATABASE_URL: databaseUrl,
  };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env, stdio: "ignore" });
  const ended = new Promise<number | null>((resolve) => {
    child.on("close", (code) => {
      rmSync(cwd, { recursive: true, force: true });
      resolve(code);
    });
  });
  return { process: child, ended };
}
