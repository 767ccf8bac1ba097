import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { printOfferedNames } from "../../src/cli/offered-names.ts";
import { toRefusal } from "../../src/db/read/run-query.ts";
import { UsageError } from "../../src/errors.ts";
import { startPostgresProxy } from "../postgres/proxy.ts";
import { createRole } from "../postgres/roles.ts";
import { untilSession } from "../postgres/sessions.ts";
import { addRows, day } from "../reporting/stored-rows.ts";
import { callCli, createContext } from "../support/call-cli.ts";
import { MAIN, startCli, startProgram } from "../support/cli.ts";
import { freshTestDatabase, useTestDatabase, withClient } from "../support/database.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const database = useTestDatabase();

beforeAll(async () => {
  await addRows(database(), "sync_runs", [{ id: 1, started_at: day(1), finished_at: day(1), libraries_listed: 4 }]);
  await addRows(database(), "libraries", [
    { library_name: "forest", package_name: "landscape", package_version: "4.0.1", description: 'a "b", c' },
    { owner: "bob", library_name: "50% fire/water" },
    { owner: "bob", library_name: "lake" },
  ]);
  await addRows(database(), "library_sync", [
    {
      library_name: "forest",
      bookmark: "x",
      listed_text: "x",
      bookmark_seen_at: day(1),
      settles_at: day(1),
      content_read_at: day(2),
      last_success_at: day(2),
      scenario_count: 3,
      result_count: 1,
    },
    { owner: "bob", library_name: "50% fire/water", failures: 2, last_failed_at: day(2), reread_reason: "failure" },
    { owner: "bob", library_name: "lake", removal_held_at: day(2) },
    { owner: "bob", library_name: "Été" },
  ]);
});

/** Runs a command with only the settings of the database. */
const simcat = (...args: readonly string[]) =>
  callCli(args, { DATABASE_URL: database().url, SIMCAT_LOG_FORMAT: "pretty" });

const answer = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await simcat(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};

const refusal = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await simcat(...args);
  expect(stdout).toBe("");
  return [code, stderr.trimEnd()];
};

describe("simcat query", () => {
  test.each(["error", "debug5"])(
    "says why a moment before the history has no rows, if client_min_messages is %s (fault 230)",
    async (level) => {
      const DATABASE_URL = `${database().url}?options=-c%20client_min_messages%3D${level}`;
      const sql = "SELECT owner FROM libraries_as_of('1970-01-01')";
      expect(await callCli(["query", "--csv", sql], { DATABASE_URL, SIMCAT_LOG_FORMAT: "pretty" })).toMatchObject({
        code: 0,
        stdout: "owner\r\n",
        stderr: "simcat: no rows for 1970-01-01 00:00:00+00: the history is complete since 2026-01-01 00:00:00+00\n",
      });
    },
  );

  test("prints a table of the rows, whose views need no schema", async () => {
    expect(
      await answer("query", "SELECT owner, count(*), min(changed_at) AS since FROM libraries GROUP BY 1 ORDER BY 1;"),
    ).toBe(
      [
        "owner  count  since",
        "ann        1  2026-01-01T00:00:00Z",
        "bob        2  2026-01-01T00:00:00Z",
        "(2 rows)",
        "",
      ].join("\n"),
    );
    expect(await answer("query", "SELECT owner FROM libraries WHERE false")).toBe("(0 rows)\n");
  });

  const VALUES = `SELECT 9007199254740993 AS big, 'NaN'::float8 AS nan, 1.50::numeric AS exact, true AS yes, NULL AS none,
    E'a\\n"b", c' AS text, '{"a":\n 1}'::json AS json, '[1]'::jsonb AS jsonb, timestamptz '2026-07-01 12:00:00.5+02' AS at,
    timestamp '2026-07-01 12:00' AS local, date '2026-07-01' AS day, ARRAY['x'] AS list`;

  test.each([
    [
      "--csv",
      'big,nan,exact,yes,none,text,json,jsonb,at,local,day,list\r\n9007199254740993,NaN,1.50,true,,"a\n""b"", c","{""a"":  1}",[1],2026-07-01T10:00:00.5Z,2026-07-01T12:00:00,2026-07-01,{x}\r\n',
    ],
    [
      "--jsonl",
      '{"big":9007199254740993,"nan":null,"exact":1.50,"yes":true,"none":null,"text":"a\\n\\"b\\", c","json":{"a":  1},"jsonb":[1],"at":"2026-07-01T10:00:00.5Z","local":"2026-07-01T12:00:00","day":"2026-07-01","list":"{x}"}\n',
    ],
  ])("keeps every value exact with %s", async (format, expected) => {
    expect(await answer("query", VALUES, format)).toBe(expected);
  });

  test.each([
    ["--csv", "owner\r\n"],
    ["--json", "[]\n"],
    ["--jsonl", ""],
  ])("prints no row with %s", async (format, expected) => {
    expect(await answer("query", "SELECT owner FROM libraries WHERE false", format)).toBe(expected);
  });

  test("prints all of many rows, and says how many of them a table does not show", async () => {
    const sql = "SELECT i, repeat('x', 100) AS text FROM generate_series(1, 5000) i";
    const rows = JSON.parse(await answer("query", sql, "--json"));
    expect(rows).toHaveLength(5000);
    expect(rows[4999]).toEqual({ i: 5000, text: "x".repeat(100) });
    const lines = (await answer("query", "SELECT i FROM generate_series(1, 1500) i")).split("\n");
    expect(lines).toHaveLength(1003);
    expect(lines.at(-2)).toBe("(1,500 rows; 500 are not shown: --csv, --json or --jsonl prints all)");
  });

  test("ends when nobody reads its rows any more (fault 227)", async () => {
    const endless = "SELECT repeat('x', 100000) AS text FROM generate_series(1, 1000000)";
    const script = `"$0" "$1" query --csv "$2" | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const environment = { DATABASE_URL: database().url };
    const { ended } = startProgram("bash", ["-c", script, process.execPath, MAIN, endless], environment);
    expect(await ended).toMatchObject({ code: 0, stdout: "text\r\n0\n", stderr: "" });
  });

  test("prints each row once if the answer to its end is lost (fault 227)", async () => {
    const proxy = await startPostgresProxy(database().url);
    let isAsked = false;
    let isLost = false;
    proxy.judge = (statement) => {
      isAsked ||= statement.includes("AS one");
      if (statement !== "ROLLBACK" || !isAsked || isLost) return "pass";
      isLost = true;
      return "swallow answer";
    };
    const { stdout } = await callCli(["query", "--csv", "SELECT 1 AS one"], {
      DATABASE_URL: proxy.url(database().url),
    });
    expect({ stdout, isLost }).toEqual({ stdout: "one\r\n1\r\n", isLost: true });
  });

  test.each(["-- how many\nSELECT 1 AS one", "--how many\nSELECT 1 AS one"])(
    "takes SQL that begins with a comment (fault 227): %j",
    async (sql) => {
      expect(await answer("query", sql, "--csv")).toBe("one\r\n1\r\n");
    },
  );

  test("reads the statement from a file or from standard input", async () => {
    const file = join(temporaryDirectory(), "query.sql");
    writeFileSync(file, "\ufeff-- how many\nSELECT count(*) FROM libraries;\n");
    expect(await answer("query", "--file", file, "--csv")).toBe("count\r\n3\r\n");
    const piped = `echo 'SELECT 1 AS one' | "$0" "$1" query --file - --jsonl`;
    const { ended } = startProgram("sh", ["-c", piped, process.execPath, MAIN], { DATABASE_URL: database().url });
    expect(await ended).toMatchObject({ code: 0, stdout: '{"one":1}\n' });
    expect(await refusal("query", "--file", "/nowhere.sql")).toEqual([
      64,
      "simcat: the query cannot be read from /nowhere.sql: ENOENT: no such file or directory",
    ]);
  });

  const EITHER = "simcat: give the query either as SQL or with --file; such as simcat query";
  test.each([
    [
      ["CREATE TEMPORARY TABLE x ()"],
      "simcat: the query failed: cannot execute CREATE TABLE in a read-only transaction (25006); simcat query only reads",
    ],
    [
      ["DELETE FROM libraries"],
      'simcat: the query failed: cannot delete from view "libraries" (55000); simcat query only reads',
    ],
    [["COMMIT"], "simcat: the statement returns no rows; write a SELECT"],
    [
      ["COMMIT; DELETE FROM simcat.libraries"],
      "simcat: the query failed: cannot insert multiple commands into a prepared statement (42601); give one statement",
    ],
    [
      ["SELECT\n  'ä' || lastmodified FROM libraries"],
      'simcat: the query failed: column "lastmodified" does not exist, line 2, column 10 (42703); Perhaps you meant to reference the column "libraries.last_modified".',
    ],
    [
      ["TABLE nosuch"],
      "simcat: the query failed: relation \"nosuch\" does not exist, line 1, column 7 (42P01); docs/reference/views.md lists the views (they need USAGE on their schema), as does: SELECT viewname FROM pg_views WHERE schemaname = 'simcat_report'",
    ],
    [["SELECT 1 / 0"], "simcat: the query failed: division by zero (22012)"],
    [["SELECT $1::text"], "simcat: the query has parameters such as $1; write their values"],
    [[" "], "simcat: the query is empty"],
    [[], `${EITHER} "SELECT count(*) FROM libraries"`],
    [["SELECT 1", "--file", "x"], `${EITHER} "SELECT count(*) FROM libraries"`],
    [["SELECT 1 AS a, 2 AS a", "--json"], 'simcat: two columns are named "a"; rename one of them with AS'],
    [["SELECT 1", "--timeout", "1d"], "simcat: --timeout must be from 1ms to 15m"],
  ])("refuses %j with 64 and says why", async (args, message) => {
    expect(await refusal("query", ...args)).toEqual([64, message]);
    expect(await database().query("SELECT count(*)::int AS count FROM simcat.libraries")).toEqual([{ count: 3 }]);
  });

  test.each([
    [{ code: "57014", routine: "ProcessInterrupts" }, "the query took longer than 1 s"],
    [{ code: "08P01", routine: "exec_bind_message" }, "the query has parameters such as $1"],
    [{ code: "42601", routine: "exec_parse_message" }, "the query failed: eine Meldung (42601); give one statement"],
  ])("knows %j in a server's own language (fault 230)", (fields, message) => {
    const error = Object.assign(new pg.DatabaseError("eine Meldung", 1, "error"), fields);
    const refused = toRefusal(error, { sql: "", timeLimitMs: 1_000 }, 1_001);
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toContain(message);
  });

  test("ends after the time limit, and at Ctrl-C, also as a role with only one connection (fault 252)", async () => {
    expect(await refusal("query", "SELECT pg_sleep(60)", "--timeout", "200ms")).toEqual([
      64,
      "simcat: the query took longer than 200 ms; --timeout allows up to 15m",
    ]);
    const single = await createRole(database(), { attributes: "CONNECTION LIMIT 1" });
    for (const [seconds, { url }] of [[61, database()] as const, [62, single] as const]) {
      const running = startCli(["query", `SELECT pg_sleep(${seconds})`], { DATABASE_URL: url });
      await untilSession(database().query, `query = 'SELECT pg_sleep(${seconds})'`);
      running.process.kill("SIGINT");
      expect(await running.ended).toMatchObject({ code: 130, stdout: "" });
    }
    expect(
      await database().query("SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(61)' AND state = 'active'"),
    ).toEqual([]);
  });
});

describe("simcat libraries", () => {
  const table = async (...args: readonly string[]) =>
    (await answer("libraries", ...args)).split("\n").map((line) => line.split(/ {2,}/));

  test("lists every library with its contents, freshness and state, under the name that other commands take", async () => {
    expect(await table()).toEqual([
      ["library", "package", "scenarios", "results", "last_work_at", "complete_as_of", "state"],
      ["ann/forest", "landscape 4.0.1", "3", "1", "2026-01-02T00:00:00Z", "settled"],
      ["bob/50%25 fire%2Fwater", "0", "0", "2026-01-01T00:00:00Z", "failing"],
      ["bob/lake", "0", "0", "2026-01-01T00:00:00Z", "removal held"],
      ["bob/Été", "2026-01-01T00:00:00Z", "not stored yet"],
      ["(4 rows)"],
      [""],
    ]);
  });

  test.each([
    [["FOREST"], ["ann/forest"]],
    [["éTÉ"], ["bob/Été"]],
    [["bob/*a"], ["bob/50% fire/water", "bob/lake"]],
    [["50%"], ["bob/50% fire/water"]],
    [["_"], []],
    [["50%25 fire%2F"], ["bob/50% fire/water"]],
    [
      ["--owner", "bob", "e"],
      ["bob/50% fire/water", "bob/lake"],
    ],
    [
      ["--owner", "ann", "--owner", "bob", "a*e"],
      ["ann/forest", "bob/50% fire/water", "bob/lake"],
    ],
  ])("finds with %j what OWNER/NAME contains, in any case (fault 230)", async (args, expected) => {
    const rows = JSON.parse(await answer("libraries", ...args, "--json"));
    expect(rows.map((row: { owner: string; library_name: string }) => `${row.owner}/${row.library_name}`)).toEqual(
      expected,
    );
  });

  test("finds letters of any case in a database of the locale C, whose lower() knows only ASCII (fault 317)", async () => {
    const { pathname } = new URL(database().url);
    const name = `${pathname.slice(1)}_c`;
    const [{ provider } = { provider: "" }] = await database().query<{ provider: string }>(
      "SELECT CASE WHEN current_setting('server_version_num')::int >= 150000 THEN 'LOCALE_PROVIDER libc' ELSE '' END AS provider",
    );
    await database().query(`CREATE DATABASE ${name} TEMPLATE template0 ${provider} LC_COLLATE 'C' LC_CTYPE 'C'`);
    onTestFinished(async () => void (await database().query(`DROP DATABASE ${name} WITH (FORCE)`)));
    const settings = { DATABASE_URL: database().url.replace(pathname, `/${name}`) };
    expect(await callCli(["migrate"], settings)).toMatchObject({ code: 0 });
    await withClient(settings.DATABASE_URL, (client) =>
      client.query("INSERT INTO simcat.library_sync (owner, library_name) VALUES ('bob', 'Été')"),
    );
    expect((await callCli(["libraries", "éTÉ"], settings)).stdout).toContain("bob/Été");
    const completion = createContext(settings);
    await printOfferedNames(completion, "--library", '"Bob/éTÉ');
    expect(completion.stdout()).toBe("bob/Été\n");
  });

  test("prints names that can be pasted, which it finds again, and counts with separators (fault 269)", async () => {
    const one = await freshTestDatabase();
    const name = "a\tb\u202e";
    await addRows(one, "libraries", [{ library_name: name }]);
    await addRows(one, "library_sync", [{ library_name: name, scenario_count: 12_345, result_count: 1 }]);
    const print = async (...args: readonly string[]) =>
      (await callCli(["libraries", ...args], { DATABASE_URL: one.url })).stdout;
    const table = await print();
    expect(table).toMatch(/\nann\/a%09b%E2%80%AE +12,345 +1 /);
    expect(await print("a%09b%E2%80%AE")).toBe(table);
    expect(JSON.parse(await print("--json"))).toMatchObject([{ owner: "ann", library_name: name, scenarios: 12_345 }]);
  });

  test("ends with 78 if the views or one of them is missing, whose name the user did not write (fault 195)", async () => {
    const empty = await freshTestDatabase({ empty: true });
    for (const args of [["query", "SELECT 1"], ["libraries"]]) {
      const { code, stderr } = await callCli(args, { DATABASE_URL: empty.url, SIMCAT_LOG_FORMAT: "pretty" });
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining("simcat migrate") });
    }
    const { url, pool } = await freshTestDatabase();
    await pool.query("DROP VIEW simcat_report.library_freshness CASCADE");
    const stderr = expect.stringMatching(/listing the libraries failed: .*library_freshness.*; run simcat check"?\s*$/);
    expect(await callCli(["libraries"], { DATABASE_URL: url, SIMCAT_LOG_FORMAT: "pretty" })).toMatchObject({
      code: 78,
      stderr,
    });
  });
});

describe("query --file - (fault 221)", () => {
  const readInput = () =>
    startProgram(
      process.execPath,
      [MAIN, "query", "--file", "-", "--jsonl"],
      { DATABASE_URL: database().url },
      // Node makes these streams sockets.
      { stdio: ["pipe", "pipe", "pipe"] },
    );

  test("reads the statement from a socket", async () => {
    const { process: child, ended } = readInput();
    child.stdin?.end("SELECT 'ä' AS text");
    expect(await ended).toMatchObject({ code: 0, stdout: '{"text":"ä"}\n', stderr: "" });
  });

  test("ends at Ctrl-C while it waits for the rest of the statement", async () => {
    const { process: child, ended } = readInput();
    // More than a socket holds, so it is written when the program has begun to read.
    await new Promise((resolve) => child.stdin?.write(`-- ${"x".repeat(2 ** 21)}`, resolve));
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, stdout: "" });
  });
});

test.each(["latin1", "utf16le"] as const)(
  "refuses a statement in %s, whose texts would match nothing (fault 221)",
  async (encoding) => {
    const file = join(temporaryDirectory(), "query.sql");
    writeFileSync(file, Buffer.from("SELECT 'é' AS text", encoding));
    expect(await refusal("query", "--file", file)).toEqual([
      64,
      "simcat: the query is not UTF-8 text; save it in UTF-8",
    ]);
  },
);
