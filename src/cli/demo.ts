import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { connect, disconnect } from "../db/connect.ts";
import { openEmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import { embeddedStateDir } from "../embedded-postgres/state-dir.ts";
import { shellWord } from "../key.ts";
import { UTC_DATES } from "../mock/date-source.ts";
import { addLibrary, deleteScenario, editMetadata, editScenario, removeLibrary, runParent } from "../mock/edits.ts";
import { startMockService } from "../mock/mock-service.ts";
import { createOrganization, type Organization } from "../mock/organization.ts";
import { createRandom } from "../mock/random.ts";
import { databaseSecrets } from "../secrets.ts";
import type { DefineCommand } from "./command.ts";
import { type Context, noteText, printText } from "./context.ts";
import { MOCK_KEY } from "./mock.ts";
import { answerQuery } from "./query.ts";
import { report } from "./report.ts";
import { backfill, sync } from "./sync.ts";

export const defineDemo: DefineCommand = (command, run) => command.action(run(demo));

const RUN_OPTIONS = { library: [], owner: [] };
const EDITS = [runParent, editScenario, deleteScenario, editMetadata, addLibrary, removeLibrary];

/** Typical queries of the views for people. */
const QUERIES: readonly { readonly title: string; readonly sql: string }[] = [
  {
    title: "What changed in that run? Every run keeps the history: simcat query",
    sql: `
SELECT library_name, kind, what, count(DISTINCT scenario_id) AS scenarios, string_agg(DISTINCT field, ', ') AS fields
FROM changes
WHERE run_id = (SELECT max(run_id) FROM run_history)
GROUP BY owner, library_name, kind, what ORDER BY library_name, what, kind`,
  },
  {
    title: "Which owners have the most scenarios that were never run?",
    sql: `
WITH never AS (SELECT owner, count(*) AS never_run FROM parents_without_results GROUP BY owner)
SELECT owner, sum(parent_count) AS parents, never_run, round(100 * never_run / sum(parent_count)) AS percent
FROM libraries JOIN never USING (owner)
GROUP BY owner, never_run ORDER BY never_run DESC, owner LIMIT 5`,
  },
];

/** Shows simcat at work on a mock service and an embedded database of its own. Leaves nothing running. */
export async function demo(context: Context): Promise<void> {
  const { environment, invocation, stop, terminal } = context;
  // A separate directory, so that a real copy in the embedded database is not touched.
  const stateDir = join(embeddedStateDir({ stateDir: environment.SIMCAT_STATE_DIR || null, environment }), "demo");
  const page = resolve("simcat-demo.html");
  const organization = createOrganization({ seed: 7, libraries: 200, scenariosPerLibrary: 20, now: new Date() });
  const onProgress = (text: string) => noteText(context, text);
  const embedded = await openEmbeddedPostgres({ stateDir, environment, onProgress }, stop);
  const service = await startMockService({ organization, apiKey: MOCK_KEY });
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
    const dropped = pool.query("DROP SCHEMA IF EXISTS simcat_report, simcat, simcat_migrations CASCADE");
    await dropped.finally(() => disconnect(pool));
    await showRuns(demoContext, organization);
    printText(context, "\n# The same as a page with charts: simcat report");
    await report(demoContext, { out: page, since: "7d", owner: [] });
    const here = `SIMCAT_STATE_DIR=${shellWord(stateDir)} ${invocation}`;
    printText(context, `\n# And now? Open the page in a browser:\n  ${pathToFileURL(page)}`);
    printText(context, `# See what this copy has; simcat query asks it anything:\n  ${here} libraries`);
    printText(context, `# Use psql or a BI tool, while this keeps the database running:\n  ${here} db`);
    printText(context, `# Copy your own organization:\n  ${invocation} init`);
  } finally {
    await service.stop();
    await embedded.stop();
  }
}

async function showRuns(context: Context, organization: Organization): Promise<void> {
  printText(context, "\n# An organization of 200 libraries, and an empty database: simcat backfill");
  await backfill(context, RUN_OPTIONS);

  printText(context, "\n# Users edit a few of them:");
  const random = createRandom(11);
  for (const edit of EDITS)
    printText(context, `  ${edit(organization, random.pick(organization.libraries()), random, UTC_DATES)}`);

  printText(context, "\n# What would a run do? simcat sync --dry-run");
  await sync(context, { ...RUN_OPTIONS, dryRun: true });
  printText(context, "\n# Only what changed is read: simcat sync");
  await sync(context, RUN_OPTIONS);

  for (const { title, sql } of QUERIES) {
    printText(context, `\n# ${title}`);
    printText(context, sql.trim().replace(/^/gm, "  "));
    await answerQuery(context, { timeout: "1m" }, sql);
  }
}
