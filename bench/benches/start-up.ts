import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Bench } from "../bench.ts";
import { environmentFor, MAIN } from "../tools/cli.ts";
import { formatMedians, interleave, ratios, repeatedRounds, timed } from "../tools/measure.ts";
import { withService } from "../tools/service.ts";

const CONNECT = `
import pg from "pg";
const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
await client.end();`;

/** The packages that a run needs, and a connection. */
const PACKAGES_AND_CONNECT = `
import "commander"; import "drizzle-orm/node-postgres"; import "drizzle-orm/pg-core";
import "pino"; import "undici"; ${CONNECT}`;

const importBuilt = (module: string) => `import "${new URL(`../../dist/${module}.js`, import.meta.url)}";`;

/** All modules that the command imports, at once or when it needs them, and a connection. */
const IMPORTS_AND_CONNECT = `
${["cli/program", "cli/sync", "service/client"].map(importBuilt).join(" ")} ${CONNECT}`;

export const startUp: Bench = {
  work: "a whole process, from its start to its end",
  run({ tiny, rounds, database }) {
    return withService({ libraries: 0, scenarios: 0, latencyMs: 0 }, async ({ url }) => {
      await database.reset();
      const environment = environmentFor(url, database);
      const node =
        (...args: readonly string[]) =>
        () =>
          timed(() => runNode(args, environment));
      const times = await interleave(repeatedRounds({ tiny, rounds }), {
        version: node(MAIN, "--version"),
        bare: node("-e", "0"),
        sync: node(MAIN, "sync", "--quiet"),
        imports: node("--input-type=module", "-e", IMPORTS_AND_CONNECT),
        packages: node("--input-type=module", "-e", PACKAGES_AND_CONNECT),
      });
      return [
        {
          name: "simcat --version ÷ node -e 0",
          values: ratios(times.version, times.bare),
          target: { atMost: 2 },
          detail: formatMedians(times.version, times.bare),
        },
        {
          name: "simcat sync of nothing ÷ (imports + connect)",
          values: ratios(times.sync, times.imports),
          target: { atMost: 1.5 },
          detail: formatMedians(times.sync, times.imports),
        },
        {
          name: "simcat sync of nothing ÷ (packages + connect)",
          values: ratios(times.sync, times.packages),
          target: { atMost: 1.5 },
          detail: formatMedians(times.sync, times.packages),
        },
      ];
    });
  },
};

async function runNode(args: readonly string[], env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`node ${args[0]} exited with ${code}`);
}
