import type { Mutation } from "./mutated-copy.ts";

/** A mutation that the simulation cannot notice, or notices only after hundreds of seeds. */
interface TestedMutation extends Mutation {
  /** The test files of which one test must fail. */
  readonly tests: readonly string[];
}

/** The mutations that tests must notice, in the order of a run. */
export const MUTATIONS: readonly TestedMutation[] = [
  {
    name: "a success does not reset the circuit breaker",
    file: "src/sync/read-libraries.ts",
    line: "breaker.reset();\n      hasRead",
    instead: "hasRead",
    tests: ["test/faults/outage.test.ts"],
  },
  {
    name: "libraries that failed before count for the circuit breaker",
    file: "src/circuit-breaker.ts",
    line: "if (!failedBefore) this.#newFailures += 1;",
    instead: "this.#newFailures += failedBefore ? 1 : 1;",
    tests: ["test/circuit-breaker.test.ts"],
  },
  {
    name: "a success does not end the time since the first throttling",
    file: "src/service/http/limiter.ts",
    line: "throttledSince = null;",
    instead: "",
    tests: ["test/service/limiter.test.ts", "test/service/throttling.test.ts"],
  },
  {
    name: "the later of two requests dates the read",
    file: "src/service/client.ts",
    line: "sentAt: Math.min(",
    instead: "sentAt: Math.max(",
    tests: ["test/service/content-answers.test.ts"],
  },
  {
    name: "the removal of a contradicted scenario is not awaited",
    file: "src/service/wire/wire-scenarios.ts",
    line: "await sink.remove(id);",
    instead: "void sink.remove(id);",
    tests: ["test/service/wire-scenarios.test.ts", "test/faults/long-lists.test.ts"],
  },
  {
    name: "a library that was read after a cache stored the listing is missing",
    file: "src/sync/rules/plan.ts",
    line: "const isSeenSince = isUnseen(seenAt ?? 0);",
    instead: "const isSeenSince = isUnseen(Math.min(seenAt ?? 0, -1));",
    tests: ["test/sync/plan.test.ts"],
  },
  {
    name: "removals are held since the latest hold",
    file: "src/sync/rules/plan.ts",
    line: "heldSince = Math.min(heldSince ?? heldAt, heldAt);",
    instead: "heldSince = Math.max(heldSince ?? heldAt, heldAt);",
    tests: ["test/sync/plan.test.ts"],
  },
  {
    name: "absences of the same run confirm a loss",
    file: "src/db/store/scenario-statements.ts",
    line: "\n      AND a.run_id <> $run_id::int8)",
    instead: ")",
    tests: ["test/postgres/commit.test.ts"],
  },
  {
    name: "a read with rejects forgets that the list had shrunk",
    file: "src/db/store/save-libraries.ts",
    line: " WHEN 'rejects' THEN y.shrunk_run_id END",
    instead: " END",
    tests: ["test/faults/shrinking.test.ts"],
  },
  {
    name: "a partial store counts as a success",
    file: "src/db/store/save-libraries.ts",
    line: "last_success_at = CASE WHEN i.reread_reason IS NULL THEN now() ELSE y.last_success_at END,",
    instead: "last_success_at = now(),",
    tests: ["test/faults/shrinking.test.ts"],
  },
  {
    name: "a read with rejected metadata ends the suspicion",
    file: "src/sync/rules/library-content.ts",
    line: "+ 1 : isMetadataKept ? suspectBefore : 0,",
    instead: "+ 1 : isMetadataKept ? 0 : 0,",
    tests: ["test/faults/mismatched.test.ts"],
  },
  {
    name: "stored content resolves the rejects of the listing",
    file: "src/db/store/save-rejects.ts",
    line: "AND r.resolved_at IS NULL AND r.kind <> 'listing'",
    instead: "AND r.resolved_at IS NULL",
    tests: ["test/faults/rejects.test.ts"],
  },
  {
    name: "a library that returned does not count as changed",
    file: "src/sync/run-totals.ts",
    line: 'if (saved.changed || action.stored?.state === "removed") counts',
    instead: "if (saved.changed) counts",
    tests: ["test/faults/removal.test.ts", "test/run/main-job.test.ts"],
  },
  {
    name: "the release of the lease is not awaited",
    file: "src/sync/run.ts",
    line: "await lease.release();",
    instead: "void lease.release();",
    tests: ["test/process/lease.test.ts", "test/postgres/leases.test.ts"],
  },
  {
    name: "a small body inflates to any size before its limit is checked",
    file: "src/service/http/response.ts",
    line: "gunzipSync(decoded, { maxOutputLength: MAX_WHOLE_BYTES })",
    instead: "gunzipSync(decoded, { maxOutputLength: 1024 * MAX_WHOLE_BYTES })",
    tests: ["test/faults/long-lists.test.ts"],
  },
  {
    name: "removals that are held later begin a hold of their own",
    file: "src/db/store/save-listing.ts",
    line: "coalesce(to_timestamp($held_since::float8 / 1000), now())",
    instead: "coalesce(now(), to_timestamp($held_since::float8 / 1000))",
    tests: ["test/faults/removal.test.ts"],
  },
  {
    name: "removals that were allowed stay in the base",
    file: "src/db/read/removal-numbers.ts",
    line: "l.run_id NOT IN (SELECT id FROM allowed)",
    instead: "true",
    tests: ["test/faults/removal.test.ts"],
  },
  {
    name: "removals that were allowed count as removed lately",
    file: "src/db/read/removal-numbers.ts",
    line: "WHERE removed_at > since.at AND run_id NOT IN (SELECT id FROM allowed)) AS gone",
    instead: "WHERE removed_at > since.at) AS gone",
    tests: ["test/faults/removal.test.ts"],
  },
  {
    name: "new libraries dilute the share while removals are held",
    file: "src/sync/plan-run.ts",
    line: "(connection, heldSince)",
    instead: "(connection, null)",
    tests: ["test/faults/removal.test.ts"],
  },
  {
    name: "libraries of incomplete listings dilute the share",
    file: "src/db/read/removal-numbers.ts",
    line: "sync_runs WHERE listing_complete",
    instead: "sync_runs",
    tests: ["test/faults/removal.test.ts"],
  },
  {
    name: "a library that went, returned and is missing counts twice",
    file: "src/sync/plan-run.ts",
    line: "(keyText(key)))",
    instead: "(keyText(key)) && gone < 0)",
    tests: ["test/faults/removal.test.ts"],
  },
  {
    name: "rejects of the listing do not count among the hundred of a library",
    file: "src/db/store/save-rejects.ts",
    line: "[keyText(row), row.open]",
    instead: "[keyText(row), 0 * row.open]",
    tests: ["test/faults/rejects.test.ts"],
  },
];
