import { expect, test } from "vitest";
import { brokenHistories, serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture } from "../support/fixture.ts";
import { AWKWARD_NAMES, library, scenario } from "../support/organization.ts";
import { createRole } from "./roles.ts";

const NEWER = "2024-07-02 at 3:04 PM";

const awkward = () => [
  // A NULL among texts only: no number in the column causes an error.
  library("o\\w'ner", "null", { description: null, packageName: null }),
  ...AWKWARD_NAMES.map((name) =>
    library("o\\w'ner", name, {
      description: `\\x41 'quoted' "double" $1 ${name}`,
      scenarios: [
        1,
        scenario(2, { scenarioName: name, description: "E'\\n' \\\\ $$ ; --" }),
        scenario(9_007_199_254_740_991),
      ],
    }),
  ),
];

const QUOTING = {
  search_path: "nowhere",
  standard_conforming_strings: "off",
  backslash_quote: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  bytea_output: "escape",
  client_encoding: "LATIN1",
  DateStyle: "German",
  TimeZone: "Pacific/Kiritimati",
  plan_cache_mode: "force_generic_plan",
  enable_hashjoin: "off",
};

const TIMES = {
  search_path: "simcat_migrations, simcat",
  DateStyle: "SQL, DMY",
  TimeZone: "America/St_Johns",
  IntervalStyle: "sql_standard",
  extra_float_digits: "-15",
  default_transaction_isolation: "serializable",
  default_transaction_deferrable: "on",
  synchronous_commit: "off",
};

test.each([
  ["the format of text, nulls and times", QUOTING],
  ["the format of times and numbers, and transactions", TIMES],
])(
  "a role whose settings change %s: rows, dates and bookmarks are exact, nothing is repeated (faults 58, 166)",
  async (_, settings) => {
    const { call, database, query, service, asked } = await fixture(awkward());
    const role = await createRole(database);
    for (const [name, value] of Object.entries(settings)) {
      await query(`ALTER ROLE ${role.name} SET ${name} = ${name === "search_path" ? value : `'${value}'`}`);
    }
    const asRole = { DATABASE_URL: role.url };

    expect((await call(["sync"], asRole)).code).toBe(0);

    expect(await storedRows(query)).toEqual(serviceRows(service.organization));
    const misdated = `SELECT FROM simcat.library_sync
      WHERE content_read_at NOT BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp()`;
    expect(await query(misdated)).toEqual([]);
    asked();
    expect((await call(["sync"], asRole)).code).toBe(0);
    expect(asked()).toEqual(["GET /libs"]);
    service.change("o\\w'ner", "back\\slash", {
      lastModified: NEWER,
      scenarios: [scenario(1, { scenarioName: "O'\\" })],
    });
    expect((await call(["sync"], asRole)).code).toBe(0);
    expect(await storedRows(query)).toEqual(serviceRows(service.organization));
    expect(await brokenHistories(query)).toEqual([]);

    const prune = ["prune", "--older-than", "1s", "--dry-run", "--json"];
    await query("SELECT pg_sleep(1)");
    const pruned = await call(prune, asRole);
    expect(JSON.parse(pruned.stdout)).toMatchObject({
      rows: { scenarios: 2, scenario_history: 3, library_history: 1 },
    });
    const told = async (command: string, more = {}) =>
      (await call([command, "--json"], more)).stdout.replace(/"(now|duration_ms)": .+\n/g, "");
    expect(await told("status", asRole)).toBe(await told("status"));
    expect(await told("verify", asRole)).toBe(await told("verify"));
  },
);
