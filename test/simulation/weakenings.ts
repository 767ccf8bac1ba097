/** One line of the program, weakened. */
export interface Weakening {
  readonly name: string;
  readonly file: string;
  readonly line: string;
  readonly instead: string;
}

/** The weakenings that the simulation must detect, grouped by the promise that each one breaks. */
export const WEAKENINGS: readonly Weakening[] = [
  {
    name: "an equal text is enough to skip",
    file: "src/sync/rules/decide.ts",
    line: "if (sync.rereadReason !== null) return",
    instead:
      'if (listed.lastModified === sync.bookmark) return { kind: "skip", reason: "unchanged" };\n  if (sync.rereadReason !== null) return',
  },
  {
    name: "a bookmark settles immediately",
    file: "src/sync/rules/settle.ts",
    line: "seenAt + precisionOf(text) + SETTLE_MARGIN_MS : null",
    instead: "seenAt : null",
  },
  {
    name: "a cached answer settles",
    file: "src/sync/rules/library-content.ts",
    line: "isMisnamed || isSuspect(",
    instead: "isMisnamed || false && isSuspect(",
  },
  {
    name: "no read is ever due because of its age",
    file: "src/sync/rules/settle.ts",
    line: "return now >= (sync.contentReadAt ?? 0) + fullEveryMs / 2 &&",
    instead: "return now < 0 &&",
  },
  {
    name: "a listed text is not recorded before content is read",
    file: "src/sync/rules/plan.ts",
    line: "states[index] = stored.sync?.listedText === listed.lastModified ? SAME_DATE : CHANGED_DATE;",
    instead: "states[index] = SAME_DATE;",
  },
  {
    name: "a partial read counts as a whole one",
    file: "src/db/store/save-libraries.ts",
    line: 'rereadReason: isPartial(library) ? "rejects" :',
    instead: "rereadReason:",
  },
  {
    name: "a partial read marks the scenarios it lacks",
    file: "src/db/store/remove-missing-scenarios.ts",
    line: "if (missing === 0 || isPartial(library)) return",
    instead: "if (missing === 0) return",
  },
  {
    name: "a shrunk list is accepted immediately",
    file: "src/sync/rules/guard.ts",
    line: 'return listed === 0 || isOver(missing, live, maxRemoved) ? "withhold" : "mark";',
    instead: 'return "mark";',
  },
  {
    name: "a listing with unreadable entries counts as whole",
    file: "src/service/wire/wire-listing.ts",
    line: "incomplete: explainIncomplete(unread, ownerless),",
    instead: "incomplete: null,",
  },
  {
    name: "one page counts as the whole listing",
    file: "src/service/list-libraries.ts",
    line: "isPaged ? ONE_PAGE : null",
    instead: "null",
  },
  {
    name: "an empty listing is accepted",
    file: "src/sync/rules/guard.ts",
    line: "if (listedCount === 0 && liveCount > 0) {",
    instead: "if (listedCount < 0) {",
  },
  {
    name: "the guard forgets the last 24 hours",
    file: "src/sync/rules/guard.ts",
    line: "const removed = facts.missing + facts.removedLately;",
    instead: "const removed = facts.missing;",
  },
  {
    name: "a hold lapses when the share has changed",
    file: "src/sync/rules/guard.ts",
    line: "if (facts.heldBefore > 0) {",
    instead: "if (facts.heldBefore < 0) {",
  },
  {
    name: "new libraries dilute the share while removals are held",
    file: "src/sync/plan-run.ts",
    line: "readRemovalNumbers(connection, plan.heldSince)",
    instead: "readRemovalNumbers(connection, null)",
  },
  {
    name: "holds are not recorded",
    file: "src/sync/mark-removed.ts",
    line: "if (holds.length > 0) {",
    instead: "if (holds.length < 0) {",
  },
  {
    name: "the oldest content is not read first",
    file: "src/sync/rules/plan.ts",
    line: "(times[a] ?? 0) - (times[b] ?? 0) || a - b",
    instead: "a - b",
  },
  {
    name: "overdue libraries wait for their turn",
    file: "src/sync/rules/plan.ts",
    line: "if (isOverdue(context.now, sync, context.fullEveryMs)) return OVERDUE;",
    instead: "",
  },
  {
    name: "an interrupted restart trusts the hashes",
    file: "src/sync/start-run.ts",
    line: "request.restart ? backfillSince : restartedAt",
    instead: "request.restart ? backfillSince : null",
  },
  {
    name: "a wrong command line leaves a run row",
    file: "src/sync/run.ts",
    line: "      deleteRun(connection, id),",
    instead: "      Promise.resolve(void deleteRun),",
  },
  {
    name: "an unknown owner gives an empty run",
    file: "src/sync/plan-run.ts",
    line: "  await assertKnown(selection, { listing, pool }, signal);",
    instead: "",
  },
  {
    name: "a selected run removes outside its selection",
    file: "src/sync/rules/plan.ts",
    line: "if (isUnheld) unheldElsewhere.push(key);\n          return;",
    instead: "if (isUnheld) unheldElsewhere.push(key);",
  },
  {
    name: "the hash does not cover the metadata",
    file: "src/service/read-content.ts",
    line: "return hash.update(bytes).update(",
    instead: "return hash.update(",
  },
  {
    name: "a new scenario without fields is no change",
    file: "src/db/store/scenario-statements.ts",
    line: "(s.old).owner IS NULL OR (s.old).removed_at IS NOT NULL\n      OR",
    instead: "(s.old).removed_at IS NOT NULL OR",
  },
  {
    name: "a returning scenario stays removed",
    file: "src/db/store/scenario-statements.ts",
    line: '...STORED, "changed_at", "removed_at", "run_id"',
    instead: '...STORED, "changed_at", "run_id"',
  },
  {
    name: "history is not written",
    file: "src/db/store/scenario-statements.ts",
    line: "met d WHERE d.is_read AND d.changed AND NOT d.is_new",
    instead: "met d WHERE false",
  },
  {
    name: "ids are rounded",
    file: "src/service/wire/scenario-item.ts",
    line: "Number.isSafeInteger(number) ? number : value",
    instead: "number",
  },
  {
    name: "a repeated item is accepted, whatever its content",
    file: "src/service/wire/wire-scenarios.ts",
    line: "(first === undefined || jsonEqual(first, source))",
    instead: "true",
  },
  {
    name: "a repetition spelled differently is a contradiction",
    file: "src/service/json/exact-json.ts",
    line: "return isDeepStrictEqual(parseValue(a), parseValue(b));",
    instead: "return false;",
  },
  {
    name: "dates are truncated to milliseconds",
    file: "src/sync/rules/date-format.ts",
    line: 'Number(digits.padEnd(6, "0").slice(3, 6))',
    instead: "0",
  },
  {
    name: "a parent that turns 0 makes a version",
    file: "src/db/store/scenario-statements.ts",
    line: "ZERO_IS_NULL.includes(name) ?",
    instead: "VERSIONED.length === 0 ?",
  },
  {
    name: "a field that a library's known scenarios lost is an edit",
    file: "src/sync/rules/drift.ts",
    line: "if (isShared && count >= ENOUGH_SCENARIOS) {",
    instead: "if (isShared && count < 0) {",
  },
  {
    name: "a field that a whole run lacks is an edit",
    file: "src/sync/rules/drift.ts",
    line: "if (items < ENOUGH_ITEMS) return null;",
    instead: "return null;",
  },
  {
    name: "a metadata field that all libraries of a run lost is an edit",
    file: "src/sync/rules/drift.ts",
    line: "if (libraries < ENOUGH_LIBRARIES) return null;",
    instead: "return null;",
  },
  {
    name: "a library is stored before the run has shown whether a field is gone",
    file: "src/sync/read-libraries.ts",
    line: 'if (verdict.kind === "store") {',
    instead: 'if (verdict.kind !== "drift") {',
  },
  {
    name: "a deferred library is forgotten",
    file: "src/sync/read-libraries.ts",
    line: "else again.push(action);",
    instead: "",
  },
  {
    name: "another library's answers are accepted",
    file: "src/sync/read-library.ts",
    line: "if (other) throw mismatched(key, other);",
    instead: "",
  },
  {
    name: "another owner is never another library",
    file: "src/sync/rules/named-library.ts",
    line: "(other.owner !== key.owner || name !== key.name)",
    instead: "name !== key.name",
  },
  {
    name: "metadata with another name settles",
    file: "src/sync/rules/library-content.ts",
    line: "isMisnamed || isSuspect(",
    instead: "isSuspect(",
  },
  {
    name: "the staging table is never cleared",
    file: "src/db/store/staging.ts",
    line: "write(DELETE_ALL({}))",
    instead: "Promise.resolve()",
  },
  {
    name: "the fence is not checked",
    file: "src/db/lease.ts",
    line: "if (rowCount === 0) throw lostLease();\n}",
    instead: "if (rowCount === null) throw lostLease();\n}",
  },
  {
    name: "a lost lease counts as a good end",
    file: "src/sync/run-outcome.ts",
    line: '(error.status ?? "failed")',
    instead: '(error.status === "lost_lease" ? "ok" : (error.status ?? "failed"))',
  },
  {
    name: "failures end as ok",
    file: "src/sync/run-totals.ts",
    line: "this.failures.length + this.counts.rejects",
    instead: "this.counts.rejects",
  },
  {
    name: "only bad data counts as one library's own error",
    file: "src/db/db-errors.ts",
    line: "return SQLSTATE.test(code) && !SERVER_WIDE.test(code)",
    instead: "return /^(21|22|23|54)/.test(code)",
  },
  {
    name: "a refused batch fails as a whole",
    file: "src/db/store/refused-rows.ts",
    line: "if (only !== undefined && some.length === 1) return tools.onRefused(only, error);",
    instead: "if (only !== undefined) { for (const one of some) await tools.onRefused(one, error); return; }",
  },
  {
    name: "only the first half of a refused batch is stored",
    file: "src/db/store/refused-rows.ts",
    line: "await writePart(some.slice(middle));",
    instead: "if (some.length < 3) await writePart(some.slice(middle));",
  },
  {
    name: "a refused library is not recorded as failed",
    file: "src/db/store/write-libraries.ts",
    line: "await this.#recordFailures([failure]);",
    instead: "",
  },
  {
    name: "a refused failure ends the run",
    file: "src/db/store/write-libraries.ts",
    line: 'const { message } = databaseError("writing its row of library_sync", driverError(error));',
    instead: "if (failure.rejects.length === 0) throw error; const message = String(error);",
  },
  {
    name: "a refused library ends the record of the listing",
    file: "src/db/store/save-listing.ts",
    line: "if (!(error instanceof RefusedRows)) throw error;",
    instead: "if (error) throw error;",
  },
  {
    name: "the count of scenarios includes those marked as removed",
    file: "src/db/store/save-scenarios.ts",
    line: "scenarioCount: scenarios - removed,",
    instead: "scenarioCount: scenarios,",
  },
  {
    name: "the count of results ignores scenarios that a read lacks",
    file: "src/db/store/scenario-statements.ts",
    line: "ELSE is_live AND is_old_result END",
    instead: "ELSE false END",
  },
  {
    name: "prune deletes recently removed rows",
    file: "src/db/prune/prune-statements.ts",
    line: "ctid < $3::tid AND removed_at < $1",
    instead: "ctid < $3::tid AND removed_at - interval '9 days' < $1",
  },
  {
    name: "prune leaves the bookmarks of what it deletes",
    file: "src/db/prune/prune.ts",
    line: 'librarySync: await deleteOf("library_sync"),',
    instead: "librarySync: 0,",
  },
];
