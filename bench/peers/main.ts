/**
 * `npm run bench:peers -- PYTHON [--libraries N]` compares simcat with dlt_pipeline.py by the processor seconds of the client.
 * PYTHON has the packages of requirements.txt.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { environmentFor, runCli } from "../tools/cli.ts";
import { withDatabase, withServer } from "../tools/database.ts";
import { withService } from "../tools/service.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { libraries: { type: "string", default: "1000" } },
});
const [python = "python3"] = positionals;
const libraries = Number(values.libraries);
const pipeline = fileURLToPath(new URL("dlt_pipeline.py", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "simcat-peers-"));

try {
  await withServer((url) =>
    withDatabase(url, (database) =>
      withService({ libraries, scenarios: 20, latencyMs: 0 }, async (service) => {
        const dlt = () => {
          const env = {
            ...environmentFor(service.url, database),
            PIPELINES_DIR: folder,
            RUNTIME__DLTHUB_TELEMETRY: "false",
          };
          const output = execFileSync(python, [pipeline], { env, cwd: folder, encoding: "utf8" });
          return Number(output.trim().split("\n").at(-1));
        };
        const compare = async (work: string, command: string) => {
          const { cpu } = await runCli([command], service.url, database);
          console.log(`${work}: simcat ${cpu.toFixed(1)} s, dlt ${dlt().toFixed(1)} s`);
        };
        console.log(`${libraries} libraries with 20 scenarios each, processor seconds of the client`);
        await compare("backfill", "backfill");
        const { rows } = await database.pool.query("SELECT count(*)::int AS stored FROM dlt_peer.scenarios");
        if (rows[0]?.stored !== 20 * libraries) throw new Error(`dlt stored ${rows[0]?.stored} scenarios`);
        await compare("nothing new", "sync");
        await service.order({ kind: "edit", count: libraries / 100, round: 1 });
        await compare("1 % changed", "sync");
      }),
    ),
  );
} finally {
  rmSync(folder, { recursive: true });
}
