import type { Mutation } from "../mutations/mutated-copy.ts";

type Row = readonly [name: string, line: string, instead: string];

/** By the file that they change: the promise that is broken, a line, and a wrong version of it. */
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
  ],
  "src/sync/rules/plan.ts": [
    ["a listed text is not recorded before content is read", "? SAME_DATE : NEW_DATE;", "? SAME_DATE : SAME_DATE;"],
    [
      "a selected run removes outside its selection",
      "missingElsewhere.push(key);\n          return;",
      "missingElsewhere.push(key);",
    ],
  ],
  "src/db/store/save-libraries.ts": [
    ["a partial read counts as a whole one", 'rereadReason: library.isPartial ? "rejects" :', "rereadReason:"],
    ["the newest scenario of a library may be marked as removed", "s.removed_at IS NULL AND s.last", "s.last"],
  ],
  "src/db/store/save-scenarios.ts": [
    ["a partial read marks the scenarios it lacks", "missing === 0 || library.isPartial", "missing === 0"],
    ["a cached list confirms what an earlier one lacked", "library.suspectReads > 0", "library.suspectReads < 0"],
    ["the count of scenarios includes those marked as removed", "scenarios - removed,", "scenarios,"],
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
    ["the hash does not cover the metadata", "return hash.update(bytes).update(", "return hash.update("],
  ],
  "src/db/store/save-listing.ts": [
    ["holds are not recorded", "await save(held, holding,", "await save(held.slice(0, 0), holding,"],
    ["a refused library ends the record of the listing", "error } of refused) {", "error } of refused) { throw error;"],
  ],
  "src/sync/run.ts": [
    ["a run of a part takes the snapshot", "|| !isEverything(request.selection)) return;", ") return;"],
  ],
  "src/db/store/scenario-statements.ts": [
    ["a new scenario without fields is no change", "(s.old).owner IS NULL OR (s.old).removed_at", "(s.old).removed_at"],
    ["a returning scenario stays removed", 'STORED, "changed_at", "removed_at"', 'STORED, "changed_at"'],
    ["history is not written", "matched d WHERE d.is_read AND d.changed AND NOT d.is_new", "matched d WHERE false"],
    ["a parent that turns 0 makes a version", "NULL_FOR_ZERO.includes(field) ?", "SCENARIO_VERSIONED.length === 0 ?"],
    ["the count of results ignores scenarios that a read lacks", "is_live AND is_old_result END", "false END"],
  ],
  "src/service/wire/wire-scenarios.ts": [
    ["ids are rounded", "Number.isSafeInteger(number) ? number : value", "number"],
    ["a repeated item is accepted, whatever its content", "(first === undefined || jsonEqual(first, source))", "true"],
  ],
  "src/service/wire/storable-json.ts": [
    ["a repetition spelled differently is a contradiction", "|| isDeepStrictEqual(parseValue(a), parseValue(b))", ""],
  ],
  "src/parse-values.ts": [["dates are truncated to milliseconds", 'Number(digits.padEnd(6, "0").slice(3, 6))', "0"]],
  "src/sync/rules/drift.ts": [
    ["a field that a library's known scenarios lost is an edit", "lost.count >= ENOUGH_SCENARIOS;", "lost.count < 0;"],
    ["a field that other libraries lost too is an edit", '=== "has") return null;', '!== "none") return null;'],
    [
      "a field that no other library had is an edit, however many scenarios lost it",
      "lost.count >= ENOUGH_SCENARIOS ? describe(lost) : null;",
      "lost.count < 0 ? describe(lost) : null;",
    ],
  ],
  "src/sync/find-drift.ts": [
    ["a lost field is drift, whatever other libraries have", 'return { testimony: "has", of }', 'testimony = "lacks"'],
  ],
  "src/sync/read-libraries.ts": [
    ["another library's answers are accepted", "if (other) throw mismatched(key, other);", ""],
  ],
  "src/db/store/scenario-buffer.ts": [
    ["the staging table is never cleared", "await write(DELETE_DEAD({ name: lease.name }));", "void DELETE_DEAD;"],
  ],
  "src/db/transaction.ts": [["the fence is not checked", "rowCount === 0", "rowCount === null"]],
  "src/sync/run-totals.ts": [
    [
      "a lost lease counts as a good end",
      'RUN_STATUSES.find((one) => one === code) ?? "failed"',
      'code === "lost_lease" ? "ok" : (RUN_STATUSES.find((one) => one === code) ?? "failed")',
    ],
    ["failures end as ok", "isUnrecorded || failing + this.counts.rejects", "this.counts.rejects"],
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
      "const { message } = databaseError(what, driverError(error));",
      'if (what !== "recording its rejects") throw error; const message = String(error);',
    ],
  ],
  "src/db/prune.ts": [
    [
      "prune deletes recently removed rows",
      'scenarios: "t.removed_at < $1",',
      `scenarios: "t.removed_at - interval '9 days' < $1",`,
    ],
    [
      "prune leaves the bookmarks of what it deletes",
      "= (old.owner, old.library_name) OFFSET",
      "= (old.owner, old.library_name) AND r.tableoid <> 'simcat.library_sync'::regclass OFFSET",
    ],
  ],
  "src/db/store/save-snapshot.ts": [
    ["a changed library keeps its row of the snapshots", "present.live IS NOT NULL AND", "present.live IS NULL AND"],
    ["a removed library stays live in the snapshots", "OR present.live IS NULL AND (", "OR false AND ("],
  ],
  "src/db/runs.ts": [
    ["a run that met a cached listing is complete as of its start", "$asOf::float8 / 1000", "$asOf::float8 * NULL"],
  ],
};

/** The weakenings that the simulation must detect. */
export const WEAKENINGS: readonly Mutation[] = Object.entries(BY_FILE).flatMap(([file, rows]) =>
  rows.map(([name, line, instead]) => ({ name, file, line, instead })),
);
