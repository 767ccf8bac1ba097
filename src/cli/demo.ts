import { join } from "node:path";
import { connect, disconnect, type Pool } from "../db/connect.ts";
import { openEmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import { embeddedStateDir } from "../embedded-postgres/state-dir.ts";
import { EXIT } from "../errors.ts";
import { shellWord } from "../key.ts";
import { UTC_DATES } from "../mock/date-source.ts";
import { addLibrary, deleteScenario, editMetadata, editScenario, removeLibrary, runParent } from "../mock/edits.ts";
import { createOrganization, type Organization } from "../mock/organization.ts";
import { createRandom } from "../mock/random.ts";
import { startMockService } from "../mock/server.ts";
import { formatTable } from "../output/table.ts";
import { databaseSecrets } from "../secrets.ts";
import type { DefineCommand } from "./command.ts";
import type { Context } from "./context.ts";
import { MOCK_KEY } from "./mock.ts";
import { report } from "./report.ts";
import { backfill, sync } from "./sync.ts";

export const defineDemo: DefineCommand = (command, run) => command.action(run(demo));

const RUN_OPTIONS = { library: [], owner: [], allowRemovals: false, restart: false, json: false };
const EDITS = [runParent, editScenario, deleteScenario, editMetadata, addLibrary, removeLibrary];

/** Typical queries of the views for people. */
const QUERIES: readonly { readonly title: string; readonly sql: string }[] = [
  {
    title: "What changed in that run? Every run keeps the history:",
    sql: `
SELECT library_name, kind, what, count(DISTINCT scenario_id) AS scenarios, string_agg(DISTINCT field, ', ') AS fields
FROM simcat_report.changes
WHERE run_id = (SELECT max(run_id) FROM simcat_report.run_history)
GROUP BY owner, library_name, kind, what ORDER BY library_name, what, kind`,
  },
  {
    title: "Which owners have the most scenarios that were never run?",
    sql: `
SELECT s.owner, count(*) AS parents, count(never.scenario_id) AS never_run,
  round(100.0 * count(never.scenario_id) / count(*)) AS percent
FROM simcat_report.scenarios AS s
LEFT JOIN simcat_report.parents_without_results AS never USING (owner, library_name, scenario_id)
WHERE NOT s.counts_as_result
GROUP BY s.owner ORDER BY never_run DESC, s.owner LIMIT 5`,
  },
];

/** Shows simcat at work on a mock service and an embedded database of its own. Leaves nothing running. */
export async function demo(context: Context): Promise<number> {
  const { environment, invocation, note, stop, print, terminal } = context;
  // A separate directory, so that a real copy in the embedded database is not touched.
  const stateDir = join(embeddedStateDir({ stateDir: environment.SIMCAT_STATE_DIR || null, environment }), "demo");
  const organization = createOrganization({ seed: 7, libraries: 200, scenariosPerLibrary: 20, now: new Date() });
  const service = await startMockService({ organization, apiKey: MOCK_KEY });
  const embedded = await openEmbeddedPostgres({ stateDir, environment, onProgress: note }, stop);
  try {
    context.hide(databaseSecrets(embedded.url));
    const settings = { SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: MOCK_KEY, DATABASE_URL: embedded.url };
    const demoContext: Context = {
      ...context,
      environment: { ...settings, SIMCAT_LOG_LEVEL: terminal.isErr ? "info" : "warn" },
      dotenv: new Set(),
      exposedDotenv: undefined,
    };
    const pool = await connect(embedded.url, {}, stop);
    try {
      await showRuns(demoContext, organization, pool);
      print("\n# A page with charts, to open in a browser: simcat report");
      await report(demoContext, { out: join(stateDir, "simcat-report.html"), since: "7d", owner: [], json: false });
    } finally {
      await disconnect(pool);
    }
    print("\n# To explore this database with psql or a BI tool, keep it running:");
    print(`  SIMCAT_STATE_DIR=${shellWord(stateDir)} ${invocation} db`);
    print(
      `# For your own organization: set SIMCAT_BASE_URL, SIMCAT_API_KEY and DATABASE_URL, then: ${invocation} check`,
    );
    return EXIT.ok;
  } finally {
    await service.stop();
    await embedded.stop();
  }
}

async function showRuns(context: Context, organization: Organization, pool: Pool): Promise<void> {
  const { print, terminal } = context;
  const table = async (sql: string) => {
    const { rows, fields } = await pool.query<Record<string, unknown>>(sql);
    const names = fields.map((field) => field.name);
    print(
      formatTable(
        names,
        rows.map((row) => names.map((name) => String(row[name] ?? ""))),
        terminal.columns,
      ),
    );
  };
  await pool.query("DROP SCHEMA IF EXISTS simcat_report, simcat, simcat_migrations CASCADE");

  print("\n# An organization of 200 libraries, and an empty database: simcat backfill");
  await backfill(context, RUN_OPTIONS);

  print("\n# Users edit a few of them:");
  for (const line of editSome(organization)) print(`  ${line}`);

  print("\n# What would a run do? simcat sync --dry-run");
  await sync(context, { ...RUN_OPTIONS, dryRun: true });
  print("\n# Only what changed is read: simcat sync");
  await sync(context, { ...RUN_OPTIONS, dryRun: false });

  for (const { title, sql } of QUERIES) {
    print(`\n# ${title}`);
    print(sql.trim().replace(/^/gm, "  "));
    await table(sql);
  }
}

function editSome(organization: Organization): string[] {
  const random = createRandom(11);
  return EDITS.map((edit) => edit(organization, random.pick(organization.libraries()), random, UTC_DATES));
}
