import { expect, test } from "vitest";
import type { Ended } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const ORGANIZATION = [
  library("alice", "Fire Risk", { scenarios: [1] }),
  library("bob", "Q1/Q2", { scenarios: [1] }),
  library("alice", "Water", { scenarios: [1] }),
  library("bob", "Water", { scenarios: [1] }),
];

const PRETTY = { SIMCAT_LOG_FORMAT: "pretty" };

const errorOf = ({ code, stderr }: Ended) => ({ code, stderr });

test("sync, backfill, verify and explain accept a name that only one owner has", async () => {
  const { call, asked } = await fixture(ORGANIZATION);
  // Known only by the listing.
  expect((await call(["sync", "--library", "Fire Risk"])).code).toBe(0);
  expect(asked()).toEqual(
    ["GET /libs", "GET /libs/user/alice/Fire%20Risk/metadata", "GET /libs/user/alice/Fire%20Risk/scenarios"].sort(),
  );
  expect(JSON.parse((await call(["sync", "--dry-run", "--json", "--library", "Q1%2FQ2"])).stdout)).toMatchObject({
    read: [{ owner: "bob", library: "Q1/Q2" }],
  });
  expect((await call(["backfill", "--library", "Q1%2FQ2", "--library", "alice/Fire Risk"])).code).toBe(0);
  const verified = await call(["verify", "--json", "--library", "Fire Risk"]);
  expect({ code: verified.code, ...JSON.parse(verified.stdout) }).toMatchObject({ code: 0, scenarios_compared: 1 });
  expect(JSON.parse((await call(["explain", "--json", "Q1%2FQ2"])).stdout)).toMatchObject({
    owner: "bob",
    library: "Q1/Q2",
  });
});

test("a name that several owners have is a usage error that lists them, without a run row (fault 76)", async () => {
  const { call, query } = await fixture(ORGANIZATION);
  const refused = { code: 64, stderr: "simcat: 2 owners have a library Water; write alice/Water or bob/Water\n" };
  expect(errorOf(await call(["sync", "--library", "Water"], PRETTY))).toEqual(refused);
  expect(errorOf(await call(["verify", "--library", "Water"], PRETTY))).toEqual(refused);
  expect(await query("SELECT id FROM simcat.sync_runs")).toEqual([]);
  await call(["sync", "--owner", "bob"]);
  expect(errorOf(await call(["explain", "Water"], PRETTY))).toEqual(refused);
});

test("an unknown name is a usage error that suggests libraries of any owner", async () => {
  const { call } = await fixture(ORGANIZATION);
  const error = (text: string) => ({ code: 64, stderr: `simcat: ${text}\n` });
  expect(errorOf(await call(["sync", "--library", "Fire"], PRETTY))).toEqual(
    error("Fire is neither listed nor stored (did you mean 'alice/Fire Risk'?)"),
  );
  await call(["sync"]);
  expect(errorOf(await call(["explain", "Watre"], PRETTY))).toEqual(
    error("Watre is not stored, and no run has listed it (did you mean alice/Water or bob/Water?)"),
  );
  expect(errorOf(await call(["libraries", "--owner", "al"], PRETTY))).toEqual(
    error("owner al is not stored, and no run has listed it (did you mean alice?)"),
  );
});
