/** The relations that a role may read: simcat's tables, or only the views of simcat_report, like `simcat_reader`. */
export type ReadSource = "tables" | "views";

/** `valid_to` is NULL in the current version, which the table has; the history has the others. */
const versions = (view: string, condition: string) =>
  `(SELECT v.*, v.valid_from AS changed_at FROM simcat_report.${view} v WHERE v.valid_to ${condition})`;

/**
 * The rows of the tables, under the tables' column names. The views lack a few columns; each has the value that claims least:
 * the listed date and the bookmark are the stored date, and `bookmark_seen_at` is the end of the date's window (`withSeenAt` in
 * sync/rules/settle.ts computes the moment from it).
 */
const VIEWS = {
  libraries: versions("library_versions", "IS NULL"),
  scenarios: versions("scenario_versions", "IS NULL"),
  library_history: versions("library_versions", "IS NOT NULL"),
  scenario_history: versions("scenario_versions", "IS NOT NULL"),
  library_sync: `(
    SELECT f.owner, f.library_name, l.last_modified AS listed_text, l.last_modified AS bookmark, NULL AS content_hash,
      f.settles_at, f.settles_at AS bookmark_seen_at, f.last_read_at AS content_read_at,
      f.owes AS reread_reason, NULL::int8 AS shrunk_run_id, (NOT f.settled AND f.owes IS NULL AND coalesce(f.last_read_at > f.settles_at, false))::int AS suspect_reads,
      f.failures, f.last_error, f.last_failed_at, f.last_success_at, f.removal_held_at, l.scenario_count,
      CASE WHEN f.last_whole_read_at IS NULL AND f.last_success_at IS NOT NULL THEN '-infinity'
        WHEN f.last_whole_read_at < f.last_read_at THEN f.last_whole_read_at END AS content_as_of
    FROM simcat_report.library_freshness f
    LEFT JOIN simcat_report.libraries l ON (l.owner, l.library_name) = (f.owner, f.library_name))`,
  rejects: `(
    SELECT owner, library_name, what AS kind, split_part(detail, ': ', 1) AS code, coalesce(field, '') AS path,
      substr(detail, strpos(detail, ': ') + 2) AS reason, NULL::timestamptz AS first_seen_at, NULL::timestamptz AS last_seen_at,
      NULL::timestamptz AS resolved_at
    FROM simcat_report.data_quality WHERE problem = 'open_reject')`,
  sync_runs: `(
    SELECT run_id AS id, kind, scope, status, started_at, finished_at, error, seen_as_of AS listing_as_of,
      libraries_read, libraries_skipped, libraries_changed, libraries_failed, libraries_removed,
      CASE WHEN saw_everything THEN true WHEN status IN ('ok', 'partial') THEN false END AS listing_complete
    FROM simcat_report.run_history)`,
};

/** SQL for the FROM clause, by table. Give it an alias: a view's rows are a subquery. */
export const STORED_ROWS: Readonly<Record<ReadSource, Readonly<typeof VIEWS>>> = {
  tables: Object.fromEntries(Object.keys(VIEWS).map((table) => [table, `simcat.${table}`])) as typeof VIEWS,
  views: VIEWS,
};
