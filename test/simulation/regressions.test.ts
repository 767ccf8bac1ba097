import { DrizzleQueryError } from "drizzle-orm/errors";
import { expect, test } from "vitest";
import { isConnectionLost } from "../../src/db/failures.ts";

/** What the simulation found, as small as it gets. */

test("seed 47: a connection that broke under drizzle is lost, though drizzle's own words do not say so", () => {
  const broken = new Error("Connection terminated unexpectedly");
  expect(isConnectionLost(new DrizzleQueryError('update "simcat"."sync_runs" set "status" = $1', ["ok"], broken))).toBe(
    true,
  );
});

test("seed 47: a query that speaks of connections has not lost one", () => {
  const refused = Object.assign(new Error("invalid input syntax"), { code: "22P02" });
  expect(isConnectionLost(new DrizzleQueryError("select 'connection terminated'", [], refused))).toBe(false);
  const bug = new Error("cannot read properties of undefined");
  expect(isConnectionLost(new DrizzleQueryError("select 'connection terminated'", [], bug))).toBe(false);
});
