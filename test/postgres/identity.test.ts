import { expect, test } from "vitest";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { told } from "./told.ts";

const INSERT_RUNS = `INSERT INTO simcat.sync_runs (id, kind, trigger, status, finished_at, version)
  OVERRIDING SYSTEM VALUE SELECT n, 'sync', 'cli', 'ok', now(), '0' FROM generate_series(1, 50) AS n`;
const INSERT_REJECTS = `INSERT INTO simcat.rejects (id, run_id, kind, code, path, reason, payload, fingerprint, first_seen_at, last_seen_at)
  OVERRIDING SYSTEM VALUE SELECT n, 1, 'listing', 'x', '', '', '', n, now(), now() FROM generate_series(1, 50) AS n`;

/** Logical replication copied the rows, which does not advance the sequence. */
test.each([
  ["sync_runs", INSERT_RUNS],
  ["rejects", INSERT_REJECTS],
])("after a replica's promotion the error says how to set the identity of %s (fault 102)", async (table, insert) => {
  const { simcat, query, service } = await fixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  const action = { kind: "alterItem", index: 1, set: { isResult: "no" } } as const;
  service.always({ operation: "scenarios" }, action);
  await query(insert);

  const ended = await simcat(["sync"]);

  const setval = `SELECT setval(pg_get_serial_sequence('simcat.${table}', 'id'), (SELECT max(id) FROM simcat.${table}))`;
  expect(told(ended)).toEqual({
    exit: 69,
    code: "database_failed",
    said: expect.stringContaining(
      `(23505); its sequence is older than its rows (a promoted replica?), so run: ${setval}`,
    ),
  });
  await query(setval);
  expect((await simcat(["sync"])).code).toBe(2);
});
