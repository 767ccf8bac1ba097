import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { fixture, syncedFixture } from "../support/fixture.ts";
import { library, NEWER, OLD, scenario } from "../support/organization.ts";
import { lastRun, libraryLogLines, logLines } from "./run-results.ts";

/** Incompressible text of this many bytes. */
function noise(bytes: number): string {
  let text = "";
  for (let at = 0; text.length < bytes; at++) text += createHash("sha256").update(`${at}`).digest("base64url");
  return text.slice(0, bytes);
}

const of = (owner: string, name: string) => `{"libraryName":${name},"uploadUser":${owner},"lastModified":"${OLD}"}`;

/** Runs with an edited library, a new one and these entries between them; the `vanished` libraries were stored before. */
async function runWith(entries: readonly string[], vanished: readonly string[], settings: Record<string, string> = {}) {
  const made = await syncedFixture(["edited", ...vanished].map((name) => library("alice", name, { scenarios: [1] })));
  made.service.change("alice", "edited", { lastModified: NEWER });
  for (const name of vanished) made.service.remove("alice", name);
  for (const [at, source] of entries.entries())
    made.service.put(library("bad", `entry ${at}`, { source: { entry: source } }));
  made.service.put(library("alice", "new", { scenarios: [1] }));
  made.asked();
  const ended = await made.call(["sync"], settings);
  return { ...made, ended, requests: made.asked() };
}

test("an entry without a readable identity is a reject; others are stored, none removed (fault 27)", async () => {
  const entries = [
    [`{"libraryName":"x","lastModified":"${OLD}"}`, "missing_field", "uploadUser"],
    ['"alice/Fire"', "not_an_object", ""],
    // Unaddressable, which alone would leave the listing complete.
    [of('"alice"', '".."'), "unaddressable", "libraryName"],
  ] as const;
  const sources = entries.map(([source]) => source);

  const { ended, query, lines, requests } = await runWith(sources, ["vanished"]);

  expect(ended.code).toBe(2);
  const rejects = "SELECT payload, code, path FROM simcat.rejects WHERE kind = 'listing' ORDER BY id";
  expect(await lines(rejects)).toEqual(entries.map((one) => one.join(" ")));
  expect(await lastRun(query)).toEqual({
    status: "partial",
    libraries_listed: 2,
    libraries_read: 2,
    libraries_changed: 2,
    scenarios_inserted: 1,
    scenarios_unchanged: 1,
    rejects: 3,
  });
  expect(requests).toHaveLength(5);
  expect(requests.filter((line) => line.includes("undefined") || line.includes("/bad/"))).toEqual([]);
  const live = "SELECT library_name FROM simcat.libraries WHERE removed_at IS NULL ORDER BY 1";
  expect(await lines(live)).toEqual(["edited", "new", "vanished"]);
  expect(logLines(ended).filter(({ code }) => code === "listing_incomplete")).toHaveLength(1);
});

test("a default owner applies to entries without uploadUser; null counts as absent (fault 27)", async () => {
  const { call, lines } = await fixture([
    library("alice", "absent", { source: { entry: `{"libraryName":"absent","lastModified":"${OLD}"}` } }),
    library("alice", "null", { source: { entry: of("null", '"null"') } }),
    library("alice", "named"),
  ]);

  expect((await call(["sync"], { SIMCAT_DEFAULT_OWNER: "alice" })).code).toBe(0);
  expect(await lines("SELECT owner, library_name FROM simcat.libraries ORDER BY 2")).toEqual([
    "alice absent",
    "alice named",
    "alice null",
  ]);
});

test("unaddressable entries are counted; all other libraries are complete and can be removed (fault 112)", async () => {
  const unaddressable = [
    of('"."', '"x"'),
    of('"alice"', '".."'),
    of('"alice"', '""'),
    of('"\\ud800"', '"x"'),
    of('"alice"', '"a\\u0000b"'),
    of('"alice"', `"${noise(3_000)}"`),
    of(`"${noise(3_000)}"`, '"x"'),
  ];
  const made = await runWith(unaddressable, ["vanished"], { SIMCAT_MAX_REMOVED: "50%" });
  expect(made.ended.code).toBe(2);
  const removed = "SELECT library_name FROM simcat.libraries WHERE removed_at IS NOT NULL";
  expect(await made.lines(removed)).toEqual(["vanished"]);
  const complete = `SELECT c.complete_as_of BETWEEN r.started_at - interval '1 second' AND r.started_at, c.unaddressable_libraries
    FROM simcat_report.data_complete_as_of c, simcat_report.run_history r WHERE r.run_id = 2`;
  expect(await made.lines(complete)).toEqual(["true 7"]);

  // Entries beyond the number kept per kind do not hide entries that name no library.
  for (let at = 0; at < 101; at++) {
    made.service.put(library("empty", `${at}`, { source: { entry: `{"libraryName":"","uploadUser":"u${at}"}` } }));
  }
  made.service.put(library("ownerless", "x", { source: { entry: '{"libraryName":"x"}' } }));
  await made.call(["sync"]);
  expect(await made.lines("SELECT last_whole_run_id FROM simcat_report.data_complete_as_of")).toEqual(["2"]);
});

test("keys of 2,600 bytes are stored and keys of 2,601 bytes rejected, in any script (fault 32)", async () => {
  const names = [noise(2_595), noise(2_596), "é".repeat(1_297), "🌲".repeat(648), "🌲".repeat(649)];
  const { call, lines, service } = await fixture(names.map((name) => library("alice", name, { scenarios: [1] })));

  expect((await call(["sync"])).code).toBe(2);
  for (const name of names) {
    service.change("alice", name, {
      lastModified: NEWER,
      scenarios: [scenario(1, { description: "new", parentId: 2 })],
    });
  }
  expect((await call(["sync"])).code).toBe(2);

  for (const table of ["libraries", "scenarios", "library_history", "scenario_history"]) {
    const sizes = await lines(`SELECT octet_length(owner || library_name) FROM simcat.${table} ORDER BY 1`);
    expect(sizes, table).toEqual(["2597", "2599", "2600"]);
  }
  const reject = "unaddressable owner and name have 2601 bytes, 2600 are the most";
  expect(await lines("SELECT code, reason FROM simcat.rejects WHERE resolved_at IS NULL")).toEqual([reject, reject]);
});

test("an entry with an invalid date keeps its earlier values, and its library is read (faults 33, 36)", async () => {
  const bad = [
    ["a number", '"lastModified":1694444160', "wrong_type", "lastModified"],
    ["NUL in the date", '"lastModified":"\\u0000"', "bad_text", "lastModified"],
    ["NUL below", `"lastModified":"${NEWER}","x":[{"y":"\\u0000"}]`, "bad_text", "x[0].y"],
    ["half a pair in a key", `"lastModified":"${NEWER}","\\ud800":1`, "bad_text", "?"],
    ["a wide number", `"lastModified":"${NEWER}","x":1e140000`, "out_of_range", "x"],
  ] as const;
  const { call, lines, service, asked } = await syncedFixture(
    bad.map(([name]) => library("alice", name, { scenarios: [1] })),
  );
  const sourceOf = (name: string, rest: string) => `{"libraryName":"${name}","uploadUser":"alice",${rest}}`;
  for (const [name, rest] of bad) {
    service.change("alice", name, { description: "new", source: { entry: sourceOf(name, rest) } });
  }
  asked();

  const ended = await call(["sync"]);

  expect(ended.code).toBe(2);
  expect(asked()).toHaveLength(1 + 2 * bad.length);
  const open =
    "SELECT library_name, payload, code, path, kind FROM simcat.rejects WHERE resolved_at IS NULL ORDER BY id";
  expect(await lines(open)).toEqual(
    bad.map(([name, rest, code, path]) => `${name} ${sourceOf(name, rest)} ${code} ${path} listing`),
  );
  expect(libraryLogLines(ended)).toHaveLength(bad.length);
  const states = `SELECT DISTINCT l.last_modified, l.listed->>'lastModified', bookmark, l.description, reread_reason
    FROM simcat.libraries l JOIN simcat.library_sync y USING (owner, library_name)`;
  expect(await lines(states)).toEqual([`${OLD} ${OLD} ${OLD} new rejects`]);

  for (const [name] of bad) service.change("alice", name, { source: {} });
  expect((await call(["sync"])).code).toBe(0);
  expect(await lines(open)).toEqual([]);
});

test("a repeated entry gives one row, one read and a warning (fault 28)", async () => {
  const { call, lines, service, asked } = await fixture([library("alice", "Fire"), library("bob", "Water")]);
  const repeated = { kind: "duplicateItem", index: 1 } as const;
  service.always({ operation: "listing" }, [repeated, repeated]);

  const ended = await call(["sync"]);

  expect(ended.code).toBe(0);
  expect(asked()).toHaveLength(1 + 2 * 2);
  expect(await lines("SELECT library_name FROM simcat.libraries ORDER BY 1")).toEqual(["Fire", "Water"]);
  expect(logLines(ended).filter(({ code }) => code === "listing_duplicates")).toMatchObject([
    { level: "warn", detail: "2 entries of the listing repeat an earlier one; each library is kept once" },
  ]);
});
