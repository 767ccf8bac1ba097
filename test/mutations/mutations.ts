import type { Mutation } from "./mutated-copy.ts";

type Row = readonly [name: string, line: string, instead: string, ...tests: string[]];

/**
 * By the file that they change: the promise that is broken, a line, a wrong version of it, and the tests of which one must fail. Without
 * tests, a seed of the simulation must: many events together break the promise.
 */
const BY_FILE: Readonly<Record<string, readonly Row[]>> = {
  "src/sync/rules/decide.ts": [
    [
      "an equal text is enough to skip",
      "if (sync.rereadReason !== null) return",
      'if (listed.lastModified === sync.bookmark) return { kind: "skip", reason: "unchanged" };\n  if (sync.rereadReason !== null) return',
    ],
  ],
  "src/sync/rules/settle.ts": [
    ["a bookmark settles immediately", "seenAt + precisionOf(text) + SETTLE_MARGIN_MS : null", "seenAt : null"],
    ["no read is ever due because of its age", "now >= (sync.contentReadAt ?? 0) + fullEveryMs / 2 &&", "now < 0 &&"],
  ],
  "src/sync/rules/library-content.ts": [
    ["a cached answer settles", "facts.mayBeOther || isSuspect(", "facts.mayBeOther || false && isSuspect("],
    ["metadata of a namesake settles", "(owner !== key.owner && isListed(", "(false && isListed("],
    ["metadata with another name settles", "facts.mayBeOther || isSuspect(", "isSuspect("],
    ["a read with rejected metadata ends the suspicion", "Kept ? suspectBefore", "Kept ? 0", "faults/mismatched"],
  ],
  "src/sync/rules/planner.ts": [
    ["a listed text is not recorded before content is read", "? SAME_DATE : NEW_DATE;", "? SAME_DATE : SAME_DATE;"],
    ["a selected run removes outside its selection", "push(key);\n          return;", "push(key);"],
    [
      "a library that was read after a cache stored the listing is missing",
      "const isSeenSince = isUnseen(seenAt ?? 0);",
      "const isSeenSince = isUnseen(Math.min(seenAt ?? 0, -1));",
      "sync/plan",
    ],
    ["removals are held since the latest hold", "heldSince = Math.min(", "heldSince = Math.max(", "sync/plan"],
  ],
  "src/db/store/save-libraries.ts": [
    ["a partial read counts as a whole one", 'rereadReason: library.isPartial ? "rejects" :', "rereadReason:"],
    ["the newest scenario of a library may be marked as removed", "s.removed_at IS NULL AND s.last", "s.last"],
    ["a read with rejects forgets a shrunk list", " WHEN 'rejects' THEN y.shrunk_run_id", "", "faults/shrinking"],
    ["a partial store counts as a success", "ELSE y.last_success_at", "ELSE now()", "faults/shrinking"],
  ],
  "src/db/store/save-scenarios.ts": [
    ["a partial read marks the scenarios it lacks", "missing === 0 || library.isPartial", "missing === 0"],
    ["a cached list confirms what an earlier one lacked", "library.suspectReads > 0", "library.suspectReads < 0"],
    ["the count of scenarios includes those marked as removed", "scenarios - removed,", "scenarios,"],
    ["a new scenario without fields is no change", "(s.old).owner IS NULL OR (s.old).removed_at", "(s.old).removed_at"],
    ["a returning scenario stays removed", 'STORED, "changed_at", "removed_at"', 'STORED, "changed_at"'],
    ["history is not written", "matched d WHERE d.is_read AND d.changed AND NOT d.is_new", "matched d WHERE false"],
    ["a parent that turns 0 makes a version", "NULL_FOR_ZERO.includes(field) ?", "SCENARIO_VERSIONED.length === 0 ?"],
    ["the count of results ignores scenarios that a read lacks", "is_live AND is_old_result END", "false END"],
    ["absences of the same run confirm a loss", "\n      AND a.run_id <> $run_id::int8)", ")", "postgres/commit"],
  ],
  "src/sync/rules/guard.ts": [
    ["a shrunk list is accepted immediately", '? "withhold" : "mark"', '? "mark" : "mark"'],
    ["an empty listing is accepted", "listedCount === 0 && liveCount > 0", "listedCount < 0"],
    ["the guard forgets the last 24 hours", "facts.missing + facts.removedLately", "facts.missing"],
    ["a hold lapses when the share has changed", "if (facts.heldBefore > 0) {", "if (facts.heldBefore < 0) {"],
  ],
  "src/service/wire/wire-listing.ts": [
    ["a listing with unreadable entries counts as whole", "explainIncomplete(unread, ownerless),", "null,"],
  ],
  "src/service/client.ts": [
    ["one page counts as the whole listing", "nextPage === null ? null : ONE_PAGE", "null"],
    ["the hash does not cover the metadata", "list.hash.update(metadata.value.bytes).update(", "list.hash.update("],
    ["the later of two requests dates the read", "sentAt: Math.min(", "sentAt: Math.max(", "service/content-answers"],
  ],
  "src/db/store/save-listing.ts": [
    ["holds are not recorded", "await save(held, holding,", "await save(held.slice(0, 0), holding,"],
    ["a refused library ends the record of the listing", "error } of refused) {", "error } of refused) { throw error;"],
    ["removals that are held later begin a hold of their own", "/ 1000), now())", "* NULL), now())", "faults/removal"],
  ],
  "src/sync/run.ts": [
    ["a run of a part takes the snapshot", "|| !isEverything(request.selection)) return;", ") return;"],
    ["lease.release() is not awaited", "await lease.release", "void lease.release", "process/lease", "postgres/leases"],
  ],
  "src/service/wire/wire-scenarios.ts": [
    ["ids are rounded", "Number.isSafeInteger(number) ? number : value", "number"],
    ["a repeated item is accepted, whatever its content", "(first === undefined || jsonEqual(first, source))", "true"],
    [
      "the removal of a contradicted scenario is not awaited",
      "await sink.remove(id);",
      "void sink.remove(id);",
      "service/wire-scenarios",
      "faults/long-lists",
    ],
  ],
  "src/service/wire/storable-json.ts": [
    ["a repetition spelled differently is a contradiction", "|| isDeepStrictEqual(parseValue(a), parseValue(b))", ""],
  ],
  "src/parse-values.ts": [["dates are truncated to milliseconds", 'Number(digits.padEnd(6, "0").slice(3, 6))', "0"]],
  "src/sync/rules/drift.ts": [
    ["a field that a library's known scenarios lost is an edit", "lost.count >= ENOUGH_SCENARIOS;", "lost.count < 0;"],
    ["a field that other libraries lost too is an edit", '=== "has") return null;', '!== "none") return null;'],
    ["a field that no other library had is an edit, however many scenarios lost it", ">= ENOUGH_SCENARIOS ?", "< 0 ?"],
  ],
  "src/sync/find-drift.ts": [
    ["a lost field is drift, whatever other libraries have", 'heard !== "unclear"', 'heard === "lacks"'],
  ],
  "src/sync/copy-libraries.ts": [
    ["another library's answers are accepted", "if (other)\n", "if (false)\n"],
    ["a success does not reset the circuit breaker", "breaker.reset();\n      hasRead", "hasRead", "faults/outage"],
  ],
  "src/db/store/scenario-buffer.ts": [
    ["the staging table is never cleared", "await write(DELETE_DEAD({ name: lease.name }));", "void DELETE_DEAD;"],
  ],
  "src/db/transaction.ts": [["the fence is not checked", "rowCount === 0", "rowCount === null"]],
  "src/sync/run-totals.ts": [
    ["a lost lease counts as a good end", "RUN_STATUSES.find(", 'code === "lost_lease" ? "ok" : RUN_STATUSES.find('],
    ["failures end as ok", "isUnsaved || failing + this.counts.rejects", "this.counts.rejects"],
    [
      "a library that returned does not count as changed",
      'if (saved.changed || action.stored?.state === "removed") counts',
      "if (saved.changed) counts",
      "faults/removal",
      "run/main-job",
    ],
  ],
  "src/db/db-errors.ts": [
    ["only bad data counts as one library's own error", "SQLSTATE.test(code) && !SERVER_WIDE.", "/^(21|22|23|54)/."],
  ],
  "src/db/store/refused-rows.ts": [
    [
      "a refused batch fails as a whole",
      "if (only !== undefined && some.length === 1) {\n      refused.push({ item: only, error });",
      "if (only !== undefined) {\n      for (const item of some) refused.push({ item, error });",
    ],
    [
      "only the first half of a refused batch is stored",
      "for (const half of [some.slice(0, middle), some.slice(middle)]) {",
      "for (const half of [some.slice(0, middle), some.slice(some.length < 3 ? middle : some.length)]) {\n      if (half.length === 0) continue;",
    ],
  ],
  "src/db/store/save-outcomes.ts": [
    [
      "a refused library is not recorded as failed",
      "await saveFailures(failures, tools)",
      'await saveFailures(failures.filter(({ code }) => code !== "rejected_by_database"), tools)',
    ],
    [
      "a refused failure ends the run",
      "const { message } = refusedByDatabase(what, error);",
      'if (what !== "recording its rejects") throw error; const message = String(error);',
    ],
  ],
  "src/db/prune.ts": [
    ["prune deletes newly removed rows", 'scenarios: "t.removed_at', "scenarios: \"t.removed_at - interval '9 days'"],
    ["prune leaves bookmarks of deleted rows", " OFFSET", " AND r.tableoid <> 'simcat.library_sync'::regclass OFFSET"],
  ],
  "src/db/store/save-snapshot.ts": [
    ["a changed library keeps its row of the snapshots", "present.live IS NOT NULL AND", "present.live IS NULL AND"],
    ["a removed library stays live in the snapshots", "OR present.live IS NULL AND (", "OR false AND ("],
  ],
  "src/db/runs.ts": [
    ["a run that met a cached listing is complete as of its start", "$asOf::float8 / 1000", "$asOf::float8 * NULL"],
  ],
  "src/circuit-breaker.ts": [
    ["earlier failures count for the circuit breaker", "(!failedBefore)", "(!failedBefore || true)", "circuit-breaker"],
  ],
  "src/service/http/limiter.ts": [
    ["a success does not end the throttling", "throttledSince = null;", "", "service/limiter", "service/throttling"],
  ],
  "src/db/store/save-rejects.ts": [
    ["stored content resolves the rejects of the listing", " AND r.kind <> 'listing'", "", "faults/rejects"],
    ["rejects of the listing do not count among a library's hundred", "row.open]", "0 * row.open]", "faults/rejects"],
  ],
  "src/service/http/response.ts": [
    ["a small body inflates to any size", ": MAX_WHOLE_BYTES", ": 1024 * MAX_WHOLE_BYTES", "faults/long-lists"],
  ],
  "src/db/read/removal-numbers.ts": [
    ["allowed removals stay in the base", "l.run_id NOT IN (SELECT id FROM allowed)", "true", "faults/removal"],
    ["allowed removals count as removed", "allowed)) AS gone", "allowed WHERE false)) AS gone", "faults/removal"],
    ["libraries of incomplete listings dilute the share", " WHERE listing_complete\n", "\n", "faults/removal"],
  ],
  "src/sync/plan-run.ts": [
    ["new libraries dilute the share during a hold", "(connection, heldSince)", "(connection, null)", "faults/removal"],
    ["a returned library that is missing counts twice", "Text(key)))", "Text(key)) && gone < 0)", "faults/removal"],
  ],
};

/** The mutations that tests or the simulation must notice. */
export const MUTATIONS: readonly Mutation[] = Object.entries(BY_FILE).flatMap(([file, rows]) =>
  rows.map(([name, line, instead, ...tests]) => {
    return { name, file, line, instead, tests: tests.map((path) => `test/${path}.test.ts`) };
  }),
);
