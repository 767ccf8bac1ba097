import { z } from "zod";

/** The JSON that commands print, and that /readyz answers. `schemas/` has them as JSON Schemas, made from these. */

const time = z.iso.datetime();
const key = { owner: z.string(), library: z.string() };
const count = z.int().nonnegative();
const counts = z.record(z.string().regex(/^[a-z0-9_]+$/), count);
const scope = z
  .strictObject({
    libraries: z.array(z.tuple([z.string(), z.string()])),
    owners: z.array(z.string()),
    slice: z.string().optional(),
  })
  .nullable()
  .describe("Which part of the organization the run concerned. null: all of it.");
const exitCode = z.int().describe("The exit code of the process.");

const run = z
  .strictObject({
    id: count,
    kind: z.enum(["sync", "backfill"]),
    status: z.string(),
    exit_code: exitCode,
    duration_ms: count,
    libraries_listed: count,
    libraries_read: count,
    libraries_skipped: count,
    libraries_changed: count,
    libraries_failed: count,
    libraries_removed: count,
    scenarios_inserted: count,
    scenarios_updated: count,
    scenarios_removed: count,
    scenarios_unchanged: count,
    rejects: count,
    requests: count,
    retries: count,
    bytes: count,
    silent_changes: count,
    reasons: counts.describe("Libraries read, by reason."),
    skips: counts.describe("Libraries skipped, by reason."),
    failures: z.array(z.strictObject({ ...key, code: z.string(), message: z.string() })),
    reject_codes: counts,
    warnings: z.array(
      z.strictObject({
        code: z.string(),
        message: z.string(),
        owner: z.string().optional(),
        library: z.string().optional(),
      }),
    ),
    error: z.string().nullable(),
  })
  .describe("simcat sync --json and simcat backfill --json: the summary of a run.");

const plan = z
  .strictObject({
    listed: count,
    in_scope: count,
    read: z.array(z.strictObject({ ...key, reason: z.string(), write: z.enum(["insert", "compare and update"]) })),
    skip: counts.describe("Libraries that would be skipped, by reason."),
    remove: z.array(z.strictObject(key)),
    missing: count.describe("Stored libraries that the listing lacks."),
    requests: count.describe("Requests for content, without those for the listing."),
    rejects: z.array(z.strictObject({ code: z.string(), path: z.string(), reason: z.string() })),
    held: z.string().nullable(),
    incomplete: z.string().nullable(),
  })
  .describe("simcat sync --dry-run --json: what a run would do.");

const migrate = z
  .strictObject({ applied: count, recreated: z.array(z.string()) })
  .describe("simcat migrate --json: how many migrations were applied, and which objects were created again.");

const check = z
  .array(
    z.strictObject({
      check: z.string(),
      result: z.enum(["ok", "warn", "fail", "skipped"]),
      text: z.string(),
      hint: z.string().nullable(),
      details: z.array(z.string()),
      exit_code: z.int().nullable().describe("The exit code of a run in this state. null unless the check failed."),
    }),
  )
  .describe("simcat check --json: one item for each requirement of a run.");

const runRow = z.strictObject({
  id: count,
  kind: z.enum(["sync", "backfill"]),
  scope,
  status: z.string(),
  dead: z.boolean().describe("It is called running, but no process holds its lease."),
  started_at: time,
  finished_at: time.nullable(),
  duration_ms: z.number(),
  libraries_read: count,
  libraries_skipped: count,
  libraries_changed: count,
  libraries_failed: count,
  libraries_removed: count,
  error: z.string().nullable(),
});

const status = z
  .strictObject({
    now: time,
    last_good_run: runRow.nullable(),
    lease_holder: z.string().nullable(),
    libraries: z.strictObject({
      live: count,
      settled: count,
      unsettled: count,
      removed: count,
      never_stored: count,
      failing: count,
      oldest_content_read_at: time.nullable(),
    }),
    scenarios: z.strictObject({ live: count }),
    runs: z.array(runRow),
    failing: z.array(
      z.strictObject({
        ...key,
        failures: count.describe("Failures in a row."),
        last_failed_at: time.nullable(),
        next_read_due_at: time.nullable(),
        last_success_at: time.nullable(),
        last_error: z.string().nullable(),
      }),
    ),
    open_rejects: count,
    open_reject_groups: count,
    rejects: z.array(
      z.strictObject({
        owner: z.string().nullable(),
        library: z.string().nullable(),
        kind: z.string(),
        code: z.string(),
        count,
        first_seen_at: time.nullable(),
      }),
    ),
    next: z.string().describe("The most useful next step."),
  })
  .describe("simcat status --json: the last runs and the state of the copy.");

const explain = z
  .strictObject({
    ...key,
    now: time,
    verdict: z.strictObject({ next_run: z.string(), reason: z.string(), text: z.string() }),
    last_good_run: z.strictObject({ id: count, started_at: time }).nullable(),
    listed_text: z.string().nullable(),
    bookmark: z.string().nullable(),
    settled: z.boolean(),
    window_ends_at: time.nullable(),
    next_read_due_at: time.nullable(),
    reread_reason: z.string().nullable(),
    removal_held_at: time.nullable(),
    content_read_at: time.nullable(),
    suspect_reads: count,
    full_read_due_at: time.nullable(),
    failures: count,
    last_error: z.string().nullable(),
    last_failed_at: time.nullable(),
    last_success_at: time.nullable(),
    stored: z.boolean(),
    last_modified: z.string().nullable(),
    first_seen_at: time.nullable(),
    changed_at: time.nullable(),
    removed_at: time.nullable(),
    live_scenarios: count,
    library_versions: count,
    scenario_versions: count,
    open_rejects: count,
    resolved_rejects: count.nullable().describe("null: the reader's rights do not show it."),
    rejects: z.array(
      z.strictObject({
        kind: z.string(),
        code: z.string(),
        path: z.string(),
        reason: z.string(),
        first_seen_at: time,
        last_seen_at: time,
      }),
    ),
  })
  .describe("simcat explain --json: why the next run reads or skips a library.");

const differingColumns = z.array(
  z.strictObject({ column: z.string(), stored: z.string().nullable(), service: z.string().nullable() }),
);

const verify = z
  .strictObject({
    agrees: z.boolean(),
    exit_code: exitCode,
    duration_ms: count,
    libraries_listed: count,
    libraries_agreeing: count,
    libraries_differing: count,
    libraries_unread: count,
    libraries_differing_in_passing: count,
    scenarios_compared: count,
    incomplete: z.string().nullable(),
    differences: z.array(
      z.strictObject({
        ...key,
        kind: z.string(),
        remedy: z.enum(["sync", "backfill", "allow-removals"]),
        removal_held_at: time.nullable(),
        columns: differingColumns,
        scenarios: z.strictObject({
          missing: count,
          removed: count,
          unlisted: count,
          content: count,
          examples: z.array(
            z.strictObject({
              id: z.union([z.int(), z.string()]).describe("A text if a double cannot represent it."),
              kind: z.string(),
              columns: differingColumns,
            }),
          ),
        }),
      }),
    ),
    unread: z.array(z.strictObject({ ...key, code: z.string(), message: z.string() })),
    rejects: z.array(
      z.strictObject({ owner: z.string().nullable(), library: z.string().nullable(), count, reason: z.string() }),
    ),
  })
  .describe("simcat verify --json: how the database differs from the service.");

const prune = z
  .strictObject({
    dry_run: z.boolean(),
    older_than: z.string(),
    before: time,
    history_complete_since: time.nullable(),
    rows_total: count,
    rows: counts.describe("Rows deleted, by table."),
  })
  .describe("simcat prune --json: what was deleted, or would be.");

const report = z
  .strictObject({
    file: z.string(),
    bytes: count,
    at: time,
    since: time,
    owners: z.array(z.string()),
    findings: z.record(z.string(), z.string()),
  })
  .describe("simcat report --json: the page that was written, and its findings.");

const exportManifest = z
  .strictObject({
    simcat_version: z.string(),
    exported_at: z.string(),
    complete_as_of: z.string().nullable(),
    history_complete_since: z.string().nullable(),
    format: z.string(),
    safe_csv: z.boolean(),
    filters: z.strictObject({
      as_of: z.string().nullable(),
      since: z.string().nullable(),
      owners: z.array(z.string()),
    }),
    warnings: z.array(z.string()),
    views: z.array(
      z.strictObject({
        view: z.string(),
        file: z.string(),
        rows: count,
        bytes: count,
        comment: z.string().nullable(),
        columns: z.array(z.strictObject({ name: z.string(), type: z.string(), comment: z.string().nullable() })),
      }),
    ),
  })
  .describe("simcat export --json and manifest.json: what was exported.");

const database = z
  .strictObject({
    url: z.string(),
    host: z.string(),
    port: count,
    user: z.string(),
    password: z.string(),
    database: z.string(),
    data_directory: z.string(),
  })
  .describe("simcat db --json: how a reader connects to the embedded Postgres.");

const ready = z
  .strictObject({
    ready: z.boolean(),
    reasons: z.array(z.unknown()),
    complete_as_of: time.nullable(),
    failing_libraries: count.nullable(),
    last_good_run: z
      .strictObject({ id: count, kind: z.string(), status: z.string(), started_at: time, finished_at: time.nullable() })
      .nullable(),
    next_run: time.nullable(),
    current_run: z
      .strictObject({ id: count.nullable(), started_at: time, to_read: count.nullable(), done: count })
      .nullable(),
  })
  .describe("The answer of the worker's /readyz.");

export const JSON_SCHEMAS = {
  run,
  plan,
  migrate,
  check,
  status,
  explain,
  verify,
  prune,
  report,
  export: exportManifest,
  db: database,
  ready,
} as const;

/** The schema of what a command line prints with `--json`; undefined for rows, whose columns the question names. */
function schemaOf(args: readonly string[]): z.ZodType | undefined {
  if (!args.includes("--json")) return undefined;
  const [command = ""] = args.filter((word) => !word.startsWith("-"));
  const isPlan = command === "sync" && (args.includes("--dry-run") || args.includes("-n"));
  const name = isPlan ? "plan" : command === "sync" || command === "backfill" ? "run" : command;
  return (JSON_SCHEMAS as Readonly<Record<string, z.ZodType>>)[name];
}

/** @throws ZodError if a command printed something else than its schema says */
export function assertJson(args: readonly string[], stdout: string): void {
  if (stdout !== "") schemaOf(args)?.parse(JSON.parse(stdout));
}
