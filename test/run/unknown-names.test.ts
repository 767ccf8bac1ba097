import { expect, test } from "vitest";
import { logLines } from "../faults/run-results.ts";
import type { Ended } from "../support/cli.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";

const ORGANIZATION = [library("alice", "Fire", { scenarios: [1] }), library("bob", "Q1/Q2 50%", { scenarios: [1] })];

const told = (ended: Ended) => {
  const errors = logLines(ended).filter(({ level }) => level === "error");
  return { code: ended.code, stdout: ended.stdout, error: errors.map(({ msg }) => msg) };
};

const refused = (message: string) => ({ code: 64, stdout: "", error: [message] });

test("an unknown owner or library is a usage error with suggestions and leaves no run row (fault 76)", async () => {
  const { call, lines, asked } = await fixture(ORGANIZATION);
  const run = async (...args: string[]) => told(await call(args));
  const fire = refused("alice/Fier is neither listed nor stored (did you mean alice/Fire?)");

  expect(await run("sync", "--library", "alice/Fier")).toEqual(fire);
  expect(await run("sync", "--owner", "Alicia", "--dry-run")).toEqual(
    refused("owner Alicia is neither listed nor stored (did you mean alice?)"),
  );
  expect((await call(["sync"])).code).toBe(0);
  asked();

  expect(await run("sync", "--library", "alice/Fire", "--library", "alice/Fier")).toEqual(fire);
  expect(await run("sync", "--json", "--library", "alice/Fier")).toEqual(fire);
  expect(await run("sync", "--owner", "nobody", "--owner", "alice")).toEqual(
    refused("owner nobody is neither listed nor stored; simcat libraries lists the known ones"),
  );
  expect(await run("backfill", "--restart", "--library", "bob/Q1%2FQ2 5%25")).toEqual(
    refused("bob/Q1%2FQ2 5%25 is neither listed nor stored (did you mean 'bob/Q1%2FQ2 50%25'?)"),
  );
  expect(await run("verify", "--owner", "bo", "--library", "alice/Fier")).toEqual(
    refused(
      "alice/Fier is neither listed nor stored (did you mean alice/Fire?); owner bo is neither listed nor stored (did you mean bob?)",
    ),
  );
  expect(await run("explain", "alice/Fier")).toEqual(
    refused("alice/Fier is not stored, and no run has listed it (did you mean alice/Fire?)"),
  );

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
