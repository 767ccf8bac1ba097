import { DrizzleQueryError } from "drizzle-orm/errors";
import { expect, test } from "vitest";
import { isConnectionLost } from "../../src/db/db-errors.ts";

/** Failures found by the simulation, reduced to the smallest case. */

test("seed 47: a connection that broke under drizzle counts as lost, whatever drizzle's message", () => {
  const broken = new Error("Connection terminated unexpectedly");
  expect(isConnectionLost(new DrizzleQueryError('update "simcat"."sync_runs" set "status" = $1', ["ok"], broken))).toBe(
    true,
  );
});

test("seed 47: a failed query whose text mentions connections does not count as a lost connection", () => {
  const refused = Object.assign(new Error("invalid input syntax"), { code: "22P02" });
  expect(isConnectionLost(new DrizzleQueryError("select 'connection terminated'", [], refused))).toBe(false);
  const bug = new Error("cannot read properties of undefined");
  expect(isConnectionLost(new DrizzleQueryError("select 'connection terminated'", [], bug))).toBe(false);
});
