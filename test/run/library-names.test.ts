import { expect, test } from "vitest";
import { logLines } from "../faults/run-results.ts";
import type { Ended } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const ORGANIZATION = [
  library("alice", "Fire", { scenarios: [1] }),
  library("alice", "Water", { scenarios: [1] }),
  library("bob", "Water", { scenarios: [1] }),
  library("bob", "Q1/Q2 50%", { scenarios: [1] }),
];

const told = (ended: Ended) => {
  const errors = logLines(ended).filter(({ level }) => level === "error");
  return { code: ended.code, stdout: ended.stdout, error: errors.map(({ msg }) => msg) };
};

const refused = (message: string) => ({ code: 64, stdout: "", error: [message] });

test("sync, backfill, verify and explain accept a name that only one owner has", async () => {
  const { call, asked } = await fixture(ORGANIZATION);
  // Known only by the listing.
  expect((await call(["sync", "--library", "Fire"])).code).toBe(0);
  expect(asked()).toEqual(["GET /libs", "GET /libs/user/alice/Fire/metadata", "GET /libs/user/alice/Fire/scenarios"]);
  expect(JSON.parse((await call(["sync", "--dry-run", "--json", "--library", "Q1%2FQ2 50%25"])).stdout)).toMatchObject({
    read: [{ owner: "bob", library: "Q1/Q2 50%" }],
  });
  expect((await call(["backfill", "--library", "Q1%2FQ2 50%25", "--library", "alice/Fire"])).code).toBe(0);
  const verified = await call(["verify", "--json", "--library", "Fire"]);
  expect({ code: verified.code, ...JSON.parse(verified.stdout) }).toMatchObject({ code: 0, scenarios_compared: 1 });
  expect(JSON.parse((await call(["explain", "--json", "Q1%2FQ2 50%25"])).stdout)).toMatchObject({
    owner: "bob",
    library: "Q1/Q2 50%",
  });
});

test("a removed library does not share its name, but has it if no other does (fault 405)", async () => {
  const { call, service } = await fixture(ORGANIZATION);
  await call(["sync"]);
  service.remove("bob", "Water");
  service.remove("alice", "Fire");
  await call(["sync", "--allow-removals"]);
  for (const name of ["Water", "Fire"])
    expect(JSON.parse((await call(["explain", "--json", name])).stdout).owner).toBe("alice");
  service.put(library("bob", "Water"));
  expect((await call(["sync", "--library", "Water"])).code).toBe(64);
});

test("a name that several owners have is a usage error that lists them, without a run row (fault 76)", async () => {
  const { call, query } = await fixture(ORGANIZATION);
  const several = refused("2 owners have a library Water; write alice/Water or bob/Water");
  expect(told(await call(["sync", "--library", "Water"]))).toEqual(several);
  expect(told(await call(["verify", "--library", "Water"]))).toEqual(several);
  expect(await query("SELECT id FROM simcat.sync_runs")).toEqual([]);
  await call(["sync", "--owner", "bob"]);
  expect(told(await call(["explain", "Water"]))).toEqual(several);
});

test("an unknown owner or library is a usage error with suggestions and leaves no run row (faults 76 and 325)", async () => {
  const { call, lines, asked } = await fixture(ORGANIZATION);
  const expectRefused = async (args: readonly string[], message: string) =>
    expect({ args, ...told(await call(args)) }).toEqual({ args, ...refused(message) });
  const fire = "alice/Fier is neither listed nor stored (did you mean alice/Fire?)";

  await expectRefused(["sync", "--library", "alice/Fier"], fire);
  await expectRefused(
    ["sync", "--owner", "Alicia", "--dry-run"],
    "owner Alicia is neither listed nor stored (did you mean alice?)",
  );
  expect((await call(["sync"])).code).toBe(0);
  asked();

  for (const [args, message] of [
    [["sync", "--json", "--library", "alice/Fier"], fire],
    [
      ["sync", "--owner", "nobody", "--owner", "alice"],
      "owner nobody is neither listed nor stored; simcat libraries lists those of the copy",
    ],
    [
      ["backfill", "--restart", "--library", "bob/Q1%2FQ2 5%25"],
      "bob/Q1%2FQ2 5%25 is neither listed nor stored (did you mean 'bob/Q1%2FQ2 50%25'?)",
    ],
    [
      ["verify", "--owner", "bo", "--library", "alice/Fier"],
      `${fire}; owner bo is neither listed nor stored (did you mean bob?)`,
    ],
    [["explain", "alice/Fier"], "alice/Fier is neither stored nor recorded as listed (did you mean alice/Fire?)"],
    [["explain", "Watre"], "Watre is neither stored nor recorded as listed (did you mean alice/Water or bob/Water?)"],
    [["libraries", "--owner", "al"], "owner al is neither stored nor recorded as listed (did you mean alice?)"],
  ] as const)
    await expectRefused(args, message);

  expect(asked().filter((line) => line !== "GET /libs")).toEqual([]);
  expect(await lines("SELECT status FROM simcat.sync_runs")).toEqual(["ok"]);
  expect((await call(["backfill"])).code).toBe(0);
  expect(await lines("SELECT status FROM simcat.sync_runs")).toEqual(["ok", "ok"]);
});

test("logs the start of a run for a known library only, also if its listing fails (fault 76)", async () => {
  const { call, service } = await fixture(ORGANIZATION);
  const codesOf = async (library: string) =>
    logLines(await call(["sync", "--library", library])).map(({ code }) => code);
  expect(await codesOf("alice/Fier")).toEqual(["usage"]);
  expect(await codesOf("alice/Fire")).toEqual(["run_started", "run_planned", "run_finished"]);
  service.always({ operation: "listing" }, { kind: "html" });
  expect(await codesOf("alice/Fire")).toEqual(["run_started", "source_untrusted"]);
});

test("an owner or a library that is only listed, or only stored, is known (fault 76)", async () => {
  const { call, service } = await fixture([...ORGANIZATION, library("carol", "Ice", { scenarios: [1] })]);
  const code = async (...args: string[]) => (await call(args)).code;
  expect(await code("sync", "--owner", "alice", "--library", "bob/Q1%2FQ2 50%25")).toBe(0);
  service.remove("alice", "Fire");

  expect(await code("sync", "--owner", "alice", "--dry-run")).toBe(0);
  expect(await code("verify", "--owner", "alice")).toBe(2);
  expect(await code("sync", "--owner", "alice", "--allow-removals")).toBe(0);
  expect(await code("sync", "--library", "alice/Fire")).toBe(0);
  expect(await code("backfill", "--owner", "carol")).toBe(0);
  expect(await code("explain", "alice/Fire")).toBe(0);
});

test("says of no library that another slice has, or that is pruned, that no run has listed it (fault 296)", async () => {
  const { call, service } = await fixture(ORGANIZATION);
  expect((await call(["backfill", "--slice", "2/2"], { SIMCAT_MAX_RPS: "1000" })).code).toBe(0);
  await expectUnrecorded("bob/Water", "alice/Water");

  service.remove("alice", "Fire");
  expect((await call(["sync", "--allow-removals"])).code).toBe(0);
  expect((await call(["prune", "--older-than", "1ms"])).code).toBe(0);
  await expectUnrecorded("alice/Fire");

  async function expectUnrecorded(key: string, similar?: string): Promise<void> {
    const hint = similar === undefined ? "; simcat libraries lists those of the copy" : ` (did you mean ${similar}?)`;
    expect(told(await call(["explain", key]))).toEqual(
      refused(`${key} is neither stored nor recorded as listed${hint}`),
    );
  }
});
