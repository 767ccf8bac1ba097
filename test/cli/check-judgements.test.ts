import { expect, test } from "vitest";
import { checkConfiguration } from "../../src/cli/check/check-configuration.ts";
import { judgeClock, judgeEncryption, judgeSchema, judgeServer } from "../../src/cli/check/check-database.ts";
import { checkListing } from "../../src/cli/check/check-service.ts";
import { DatabaseError } from "../../src/errors.ts";
import type { Listing, Reject } from "../../src/model.ts";
import { failedBy, ok } from "../../src/output/check-lines.ts";
import { createContext } from "../support/call-cli.ts";
import { listingOf } from "../support/listing.ts";

const ANSWERED = { versionNumber: 180004, version: "18.4", startedAt: "1" };
const SERVER = { ...ANSWERED, database: "sim", role: "bo", encoding: "UTF8", readOnly: false };
const SUPPORTED = "simcat supports Postgres 14 to 18";

test.each([
  [{ versionNumber: 139_999 }, "fail", 78, "", `${SUPPORTED}: use one of these`],
  [{ versionNumber: 140_000 }, "ok", null, "", null],
  [{ versionNumber: 189_999 }, "ok", null, "", null],
  [{ versionNumber: 190_000 }, "warn", null, "", `${SUPPORTED}; a later simcat may support this one`],
  [
    { readOnly: true },
    "fail",
    69,
    "; it refuses writes, so only commands that read work: a standby, or default_transaction_read_only is on",
    "name the primary, or a role that writes, in DATABASE_URL",
  ],
])("a server with %j: %s", (server, result, exitCode, more, hint) => {
  expect(judgeServer({ ...SERVER, ...server }, "postgres://host/sim")).toEqual({
    check: "database",
    result,
    text: `postgres://host/sim answered: Postgres 18.4, database sim, role bo${more}`,
    hint,
    details: [],
    exitCode,
  });
});

test.each([
  [null, false],
  ["127.8.9.10", false],
  ["::1", false],
  ["::ffff:127.0.0.1", false],
  ["128.127.0.1", true],
  ["::ffff:10.0.0.7", true],
  ["fe80::127.0.0.1", true],
])("an unencrypted connection to %s is a warning: %s (fault 170)", (address, isWarned) => {
  const hint = "add sslmode=verify-full to DATABASE_URL";
  const warned = { result: "warn", text: "answered; the connection is not encrypted", hint };
  const line = judgeEncryption(ok("database", "answered"), address, "DATABASE_URL");
  expect(line).toMatchObject(isWarned ? warned : { result: "ok", text: "answered", hint: null });
});

test("NODE_TLS_REJECT_UNAUTHORIZED=0 is a wrong setting, no other value is (fault 170)", () => {
  const valid = { SIMCAT_BASE_URL: "https://service.test/v1/", SIMCAT_API_KEY: "a-key-of-16-chars" };
  const judge = (value: string) =>
    checkConfiguration(createContext({ ...valid, NODE_TLS_REJECT_UNAUTHORIZED: value }))[0];
  const text = expect.stringContaining("NODE_TLS_REJECT_UNAUTHORIZED is 0: ");
  expect(judge("0")).toMatchObject({ result: "fail", exitCode: 78, text, hint: expect.stringMatching(/^unset it/) });
  expect([judge("1")?.result, judge("")?.result]).toEqual(["ok", "ok"]);
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
  [{ kind: "current", version: 3 }, true, "version 3, up to date"],
  [{ kind: "behind", version: 0, missing: 3 }, true, "none yet; it will be migrated by the next run"],
  [
    { kind: "behind", version: 2, missing: 1 },
    true,
    "version 2, 1 migration behind; it will be migrated by the next run",
  ],
  [{ kind: "behind", version: 2, missing: 1 }, false, /lacks 1 of simcat's migrations; run: simcat migrate/],
  [{ kind: "newer", version: 4 }, true, /is newer than this simcat: .*; run that version, or a later one/],
] as const)("judges a schema that is %j, with auto-migrate %s: %s", (state, autoMigrate, said) => {
  const judge = () => judgeSchema(state, autoMigrate);
  if (typeof said === "string") expect(judge()).toMatchObject({ check: "schema", result: "ok", text: said });
  else expect(judge).toThrow(expect.objectContaining({ message: expect.stringMatching(said), exitCode: 78 }));
});

const reject = (code: string, path: string): Reject => {
  return { key: null, kind: "listing", code, path, reason: `is ${code}`, payload: "{}" };
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
const NAMELESS = [reject("missing_field", "uploadUser"), reject("bad_text", "")];
const WITHHELD = "one page; nothing is marked as removed while that is so";
const INCOMPLETE = { result: "warn", text: "is incomplete", hint: null, details: [WITHHELD] };

test.each([
  [{}, { result: "ok", text: "every entry can be read" }],
  [{ libraries: listingOf([]) }, { result: "ok", text: "is empty" }],
  [{ incomplete: "one page" }, INCOMPLETE],
  [{ rejects: [reject("paged_answer", "")], incomplete: "one page" }, INCOMPLETE],
  [
    { rejects: NAMELESS, incomplete: "one page" },
    {
      result: "warn",
      text: "2 entries cannot be stored",
      hint: "set SIMCAT_DEFAULT_OWNER to the owner of the entries that name none in uploadUser",
      details: ["listing uploadUser is missing_field", "listing is bad_text", WITHHELD],
    },
  ],
])("judges a listing, and claims nothing of a copy or of other entries (fault 330), case %#", (listing, line) => {
  expect(checkListing({ ...LISTING, ...listing }, { defaultOwner: null })).toMatchObject(line);
});

test("a failed check has the summary, hint and exit code of its error, or 1 for an unexpected error", () => {
  const base = { check: "database", result: "fail", details: [] };
  expect([
    failedBy("database", new DatabaseError("it said (a; b)", { hint: "start it" })),
    failedBy("database", new TypeError("oops; really")),
  ]).toEqual([
    { ...base, text: "it said (a; b)", hint: "start it", exitCode: 69 },
    { ...base, text: "oops; really", hint: null, exitCode: 1 },
  ]);
});
