/**
 * `npm run bench:peers -- PYTHON [--libraries N]` compares simcat with other tools by the processor seconds of the client.
 * PYTHON has the packages of requirements.txt.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { environmentFor, runCli } from "../tools/cli.ts";
import { type Database, withDatabase, withServer } from "../tools/database.ts";
import { withService } from "../tools/service.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { libraries: { type: "string", default: "1000" } },
});
const [python = "python3"] = positionals;
const libraries = Number(values.libraries);
const here = fileURLToPath(new URL(".", import.meta.url));

/** Each stores its scenarios in a schema of its own. */
const PEERS = [
  { name: "dlt", table: "dlt_peer.scenarios", command: `${python} ${here}dlt_pipeline.py` },
  {
    name: "Singer",
    table: "singer_peer.scenarios",
    command: `set -o pipefail; ${python} ${here}singer_tap.py state.json | ${dirname(python)}/target-postgres --config singer.json >states && tail -n 1 states >state.json`,
  },
  { name: "own script", table: "own_script.scenarios", command: `${python} ${here}own_script.py` },
];

/** Runs a command of a shell, and prints the processor seconds of all its processes. */
const MEASURE = `
import resource, subprocess, sys
subprocess.run(["bash", "-c", sys.argv[1]], check=True, stdout=sys.stderr)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime)`;

const singerSettings = ({ url }: Database) => ({
  sqlalchemy_url: url.replace("postgres://", "postgresql+psycopg://"),
  "dialect+driver": "postgresql+psycopg",
  use_copy: true,
  default_target_schema: "singer_peer",
  add_record_metadata: false,
  activate_version: false,
  validate_records: false,
  load_method: "upsert",
  batch_size_rows: 100_000,
});

const folder = mkdtempSync(join(tmpdir(), "simcat-peers-"));
try {
  await withServer((server) =>
    withDatabase(server, (database) =>
      withService({ libraries, scenarios: 20, latencyMs: 0 }, async ({ url, order }) => {
        writeFileSync(join(folder, "singer.json"), JSON.stringify(singerSettings(database)));
        const env = { ...environmentFor(url, database), RUNTIME__DLTHUB_TELEMETRY: "false" };
        const compare = async (work: string, simcatCommand: string) => {
          const { cpu } = await runCli([simcatCommand], url, database);
          const times = [`simcat ${cpu.toFixed(1)} s`];
          for (const { name, command } of PEERS) {
            const used = execFileSync(python, ["-c", MEASURE, command], {
              env,
              cwd: folder,
              encoding: "utf8",
              stdio: "pipe",
            });
            times.push(`${name} ${Number(used).toFixed(1)} s`);
          }
          console.log(`${work}: ${times.join(", ")}`);
        };
        console.log(`${libraries} libraries with 20 scenarios each, processor seconds of the client`);
        await compare("backfill", "backfill");
        for (const { name, table } of PEERS) {
          const { rows } = await database.pool.query(`SELECT count(*)::int AS stored FROM ${table}`);
          if (rows[0]?.stored !== 20 * libraries) throw new Error(`${name} stored ${rows[0]?.stored} scenarios`);
        }
        await compare("nothing new", "sync");
        await order({ kind: "edit", count: libraries / 100, round: 1 });
        await compare("1 % changed", "sync");
      }),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}
