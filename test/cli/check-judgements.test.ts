import { expect, test } from "vitest";
import { judgeClock, judgeEncryption, judgeSchema, judgeServer } from "../../src/cli/check/check-database.ts";
import { checkListing } from "../../src/cli/check/check-service.ts";
import { DatabaseError } from "../../src/errors.ts";
import type { Listing, Reject } from "../../src/model.ts";
import { failedBy, ok } from "../../src/output/check.ts";
import { listingOf } from "../support/listing.ts";

const SERVER = {
  versionNumber: 180004,
  version: "18.4",
  database: "sim",
  role: "bo",
  encoding: "UTF8",
  readOnly: false,
  startedAt: "1",
};

test.each([
  [139_999, "fail", 78, "simcat supports Postgres 14 to 18: use one of these"],
  [140_000, "ok", null, null],
  [189_999, "ok", null, null],
  [190_000, "warn", null, "simcat supports Postgres 14 to 18; a later simcat may support this one"],
])("a server of version %i is %s", (versionNumber, result, exitCode, hint) => {
  expect(judgeServer({ ...SERVER, versionNumber }, "postgres://host/sim")).toEqual({
    check: "database",
    result,
    text: "postgres://host/sim answered: Postgres 18.4, database sim, role bo",
    hint,
    details: [],
    exitCode,
  });
});

test.each([
  [null, false],
  ["127.0.0.1", false],
  ["127.8.9.10", false],
  ["::1", false],
  ["::ffff:127.0.0.1", false],
  ["10.0.0.7", true],
  ["128.127.0.1", true],
  ["::ffff:10.0.0.7", true],
  ["fe80::127.0.0.1", true],
])("an unencrypted connection to %s is a warning: %s (fault 170)", (address, isWarned) => {
  const hint = "add sslmode=verify-full to DATABASE_URL";
  const warned = { result: "warn", text: "answered; the connection is not encrypted", hint };
  const line = judgeEncryption(ok("database", "answered"), address, "DATABASE_URL");
  expect(line).toMatchObject(isWarned ? warned : { result: "ok", text: "answered", hint: null });
});

test("a read-only server fails the check", () => {
  expect(judgeServer({ ...SERVER, readOnly: true }, "postgres://host/sim")).toMatchObject({
    result: "fail",
    exitCode: 69,
    hint: "name the primary in DATABASE_URL",
  });
});

test.each([
  [60_000, "ok", "this machine's and the database's are 1 min 00 s apart"],
  [-60_000, "ok", "this machine's and the database's are 1 min 00 s apart"],
  [60_001, "warn", "this machine's is 1 min 00 s ahead of the database's, which simcat uses"],
  [-7_200_000, "warn", "this machine's is 2 h 00 min behind the database's, which simcat uses"],
])("a clock difference of %i ms is judged as %s", (apart, result, text) => {
  expect(judgeClock(1_800_000_000_000 + apart, 1_800_000_000_000)).toMatchObject({ check: "clock", result, text });
});

test.each([
  [{ kind: "current", version: 3 }, true, "ok", "version 3, up to date", null],
  [{ kind: "behind", version: 0, missing: 3 }, true, "ok", "none yet; it will be migrated by the next run", null],
  [{ kind: "behind", version: 2, missing: 1 }, false, "fail", "version 2, 1 migration behind", 78],
  [{ kind: "newer", version: 4 }, true, "fail", "version 4 is newer than this simcat: a later one has migrated it", 78],
] as const)("judges a schema that is %j, with auto-migrate %s, as %s", (state, autoMigrate, result, text, exitCode) => {
  expect(judgeSchema(state, autoMigrate)).toMatchObject({ check: "schema", result, text, exitCode });
});

const reject = (code: string, path: string): Reject => {
  return { key: null, kind: "listing", code, path, reason: "…", payload: "{}" };
};
const LISTING: Listing = {
  libraries: listingOf([{ key: { owner: "ann", name: "Lib" }, lastModified: null, source: "{}" }]),
  rejects: [],
  incomplete: null,
  repeated: 0,
  startedAt: 0,
  cachedMs: 0,
  date: null,
};

test("a complete listing is ok, even when it is empty", () => {
  expect(checkListing(LISTING, { defaultOwner: null })).toMatchObject([
    { result: "ok", text: "every entry can be read" },
  ]);
  expect(checkListing({ ...LISTING, libraries: listingOf([]) }, { defaultOwner: null })).toMatchObject([
    { result: "ok", text: "is empty: there is nothing to copy yet" },
  ]);
});

test("entries without an owner produce a warning that names the setting that fixes them", () => {
  const rejects = [
    reject("missing_field", "uploadUser"),
    reject("missing_field", "uploadUser"),
    reject("bad_text", ""),
  ];
  const incomplete = "3 entries of the listing name no library that could be read";
  expect(checkListing({ ...LISTING, rejects, incomplete, repeated: 1 }, { defaultOwner: null })).toEqual([
    {
      check: "listing",
      result: "warn",
      text: "3 entries cannot be stored, the others can",
      hint: "set SIMCAT_DEFAULT_OWNER to the owner of the entries that name none in uploadUser",
      details: [
        "2 × missing_field (uploadUser)",
        "1 × bad_text",
        "3 entries of the listing name no library that could be read; nothing is marked as removed while that is so",
        "1 entry repeats an earlier one",
      ],
      exitCode: null,
    },
  ]);
});

test("a paged listing produces a warning", () => {
  expect(checkListing({ ...LISTING, incomplete: "one page" }, { defaultOwner: null })).toMatchObject([
    { result: "warn", text: "is incomplete", hint: null },
  ]);
});

test("a failed check has the summary, hint and exit code of its error, or 1 for an unexpected error", () => {
  expect(failedBy("database", new DatabaseError("it is down", { hint: "start it" }))).toEqual({
    check: "database",
    result: "fail",
    text: "it is down",
    hint: "start it",
    details: [],
    exitCode: 69,
  });
  expect(failedBy("database", new DatabaseError("it said (a; b)"))).toMatchObject({
    text: "it said (a; b)",
    hint: null,
  });
  expect(failedBy("database", new TypeError("oops; really"))).toMatchObject({
    text: "oops; really",
    hint: null,
    exitCode: 1,
  });
});
