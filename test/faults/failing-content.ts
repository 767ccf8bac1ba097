import { expect } from "vitest";
import { syncedFixture } from "../support/fixture.ts";
import type { FaultAction } from "../support/mock/faults.ts";
import { library, scenario } from "../support/organization.ts";
import { kept, lastRun, libraryLogLines } from "./run-results.ts";

/** A library whose content fails in one way, and the expected log line. */
export interface Failing {
  /** The library's name, which is also the label of the failing case. */
  readonly name: string;
  readonly operation: "metadata" | "scenarios";
  readonly action: FaultAction | readonly FaultAction[];
  /** The error code in the log line and in `last_error`. */
  readonly code: string;
  /** The expected number of requests for that path; null if it depends on other requests. */
  readonly asked: number | null;
}

const NOW = "2030-01-02 at 3:04 PM";
const GOOD = ["good 1", "good 2", "good 3", "good 4"];

/**
 * KEEP, OTHERS, NODEL and NZ for a table of failures: store and edit each library, let it fail in a run with four
 * good ones, and check that the next run recovers everything.
 */
export async function expectKeepsFailing(
  neighbours: readonly Failing[],
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const names = neighbours.map(({ name }) => name);
  const libraries = [...names, ...GOOD];
  const { call, simcat, query, service, asked } = await syncedFixture(
    libraries.map((name) => library("alice", name, { description: "before", scenarios: [1, 2] })),
  );
  const before = await kept(query, names);
  expect(before).toHaveLength(4 * names.length);
  for (const name of libraries) {
    service.change("alice", name, {
      lastModified: NOW,
      description: "after",
      scenarios: [scenario(1, { scenarioName: "renamed" }), scenario(3)],
    });
  }
  service.script(
    neighbours.map(({ name, operation, action }) => ({ match: { library: name, operation }, times: "always", action })),
  );
  asked();

  const failing = await simcat(["sync"], environment);

  const requests = asked();
  const stored = await query<{
    name: string;
    code: string | null;
    bookmark: string;
    reread_reason: string;
    failures: number;
  }>(
    `SELECT library_name AS name, split_part(last_error, ':', 1) AS code, bookmark, reread_reason, failures
     FROM simcat.library_sync WHERE library_name <> ALL ($1)`,
    [GOOD],
  );
  const askedOf = (name: string) => {
    const { operation, asked } = neighbours.find((one) => one.name === name) ??
      neighbours[0] ?? { operation: "", asked: 0 };
    const path = `/${encodeURIComponent(name)}/${operation}`;
    return asked === null ? null : requests.filter((line) => line.endsWith(path)).length;
  };
  expect(stored.map((row) => ({ ...row, asked: askedOf(row.name) })).sort(byName)).toEqual(
    neighbours
      .map(({ name, code, asked }) => ({
        name,
        code,
        bookmark: "2023-09-11 at 2:56 PM",
        reread_reason: "failure",
        failures: 1,
        asked,
      }))
      .sort(byName),
  );
  expect(libraryLogLines(failing)).toEqual(
    neighbours
      .map(({ name, code }) => ({ owner: "alice", library: name, code }))
      .sort((a, b) => a.library.localeCompare(b.library, "en")),
  );
  expect(failing.code).toBe(2);
  expect(await lastRun(query)).toMatchObject({
    status: "partial",
    libraries_listed: libraries.length,
    libraries_read: 4,
    libraries_changed: 4,
    libraries_failed: names.length,
    scenarios_inserted: 4,
    scenarios_updated: 4,
    scenarios_removed: 4,
  });
  expect(await kept(query, names)).toEqual(before);
  expect(await query("SELECT count(*)::int AS removed FROM simcat.libraries WHERE removed_at IS NOT NULL")).toEqual([
    { removed: 0 },
  ]);
  expect(service.violations).toEqual([]);

  service.script([]);
  const healed = await call(["sync"]);

  expect(healed.code).toBe(0);
  expect(
    await query(
      `SELECT l.description, s.scenario_id::int AS id, s.scenario_name AS name, count(*)::int AS libraries
       FROM simcat.libraries l JOIN simcat.scenarios s USING (owner, library_name)
       WHERE s.removed_at IS NULL GROUP BY 1, 2, 3 ORDER BY 2`,
    ),
  ).toEqual([
    { description: "after", id: 1, name: "renamed", libraries: libraries.length },
    { description: "after", id: 3, name: "Scenario 3", libraries: libraries.length },
  ]);
  expect(await query("SELECT DISTINCT reread_reason, failures, last_error, bookmark FROM simcat.library_sync")).toEqual(
    [{ reread_reason: null, failures: 0, last_error: null, bookmark: NOW }],
  );
}

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
