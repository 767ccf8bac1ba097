import { join } from "node:path";
import { connect, disconnect, type Pool } from "../db/connect.ts";
import { openEmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";
import { embeddedStateDir } from "../embedded-postgres/state-dir.ts";
import { EXIT } from "../errors.ts";
import { shellWord } from "../key.ts";
import { createDateSource } from "../mock/date-source.ts";
import { EDITS } from "../mock/edits.ts";
import { createOrganization } from "../mock/organization.ts";
import { createRandom } from "../mock/random.ts";
import { type MockService, startMockService } from "../mock/server.ts";
import { formatTable } from "../report/table.ts";
import { databaseSecrets } from "../secrets.ts";
import { backfill } from "./backfill.ts";
import type { Context } from "./context.ts";
import { QUESTIONS } from "./demo-queries.ts";
import { MOCK_KEY } from "./mock.ts";
import { report } from "./report.ts";
import { sync } from "./sync.ts";

const ALL = { library: [], owner: [], allowRemovals: false, restart: false, json: false };
const EDITED = ["runParent", "editScenario", "deleteScenario", "editMetadata", "addLibrary", "removeLibrary"] as const;

/** The whole thing in one go: an organization to read, a database to fill, a change to see. Leaves nothing running. */
export async function demo(context: Context): Promise<number> {
  const { environment, invocation, note, stop, print, terminal } = context;
  // A place of its own: what somebody really synced into the embedded database is never touched.
  const stateDir = join(embeddedStateDir({ stateDir: environment.SIMCAT_STATE_DIR || null, environment }), "demo");
  const organization = createOrganization({ seed: 7, libraries: 200, scenariosPerLibrary: 20, now: new Date() });
  const service = await startMockService({ organization, apiKey: MOCK_KEY });
  const embedded = await openEmbeddedPostgres({ stateDir, environment, onProgress: note }, stop);
  try {
    context.hide(databaseSecrets(embedded.url));
    const settings = { SIMCAT_BASE_URL: service.url, SIMCAT_API_KEY: MOCK_KEY, DATABASE_URL: embedded.url };
    const inside: Context = {
      ...context,
      environment: { ...settings, SIMCAT_LOG_LEVEL: terminal.isErr ? "info" : "warn" },
      dotenv: new Set(),
    };
    const pool = await connect(embedded.url, {}, stop);
    try {
      await show(inside, service, pool);
      print("\n# A page with pictures, to open in a browser: simcat report");
      await report(inside, { out: join(stateDir, "simcat-report.html"), since: "7d", owner: [], json: false });
    } finally {
      await disconnect(pool);
    }
    print("\n# To look around yourself, keep this database up; it prints how psql or a BI tool connects:");
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

async function show(context: Context, service: MockService, pool: Pool): Promise<void> {
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
  await backfill(context, ALL);

  print("\n# Somebody works in a few of them:");
  for (const line of editAFew(service)) print(`  ${line}`);

  print("\n# What would a run do about it? simcat sync --dry-run");
  await sync(context, { ...ALL, dryRun: true });
  print("\n# Only what changed is read: simcat sync");
  await sync(context, { ...ALL, dryRun: false });

  for (const { title, sql } of QUESTIONS) {
    print(`\n# ${title}`);
    print(sql.trim().replace(/^/gm, "  "));
    await table(sql);
  }
}

function editAFew({ edit, organization }: MockService): string[] {
  const random = createRandom(11);
  const dateSource = createDateSource();
  return EDITED.map((name) =>
    edit(() => EDITS[name](organization, random.pick(organization.libraries()), random, dateSource)),
  );
}
