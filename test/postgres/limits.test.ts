import { join } from "node:path";
import { expect, test } from "vitest";
import { serviceRows, storedRows } from "../process/service-rows.ts";
import { fixture } from "../support/fixture.ts";
import { library } from "../support/organization.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { createTrigger } from "../support/trigger.ts";
import { startPostgresProxy } from "./proxy.ts";
import { createRole } from "./roles.ts";

/** Role limits that end longer statements, and cost settings that make JIT compile every query. */
const LIMITS = { statement_timeout: "1s", transaction_timeout: "1s", jit: "on", jit_above_cost: "0" };

test("a merge that exceeds the role's limits is stored, and none of it is compiled (fault 88)", async () => {
  const { call, database, query, service } = await fixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  const role = await createRole(database);
  const known = await query<{ name: string }>("SELECT name FROM pg_settings WHERE name = ANY ($1)", [
    Object.keys(LIMITS),
  ]);
  for (const { name } of known) {
    await query(`ALTER ROLE ${role.name} SET ${name} = '${LIMITS[name as keyof typeof LIMITS]}'`);
  }
  await query(`
    CREATE TABLE public.seen (name text, setting text);
    GRANT INSERT ON public.seen TO public`);
  await createTrigger(
    query,
    "AFTER INSERT ON simcat.scenarios FOR EACH STATEMENT",
    `PERFORM pg_sleep(1.5);
     INSERT INTO public.seen SELECT name, setting FROM pg_settings
     WHERE name IN ('statement_timeout', 'transaction_timeout', 'jit', 'plan_cache_mode');
     RETURN NULL;`,
  );

  const { code, stderr } = await call(["sync"], { DATABASE_URL: role.url });

  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(await storedRows(query)).toEqual(serviceRows(service.organization));
  const has = (name: string) => known.some((one) => one.name === name);
  expect(await query("SELECT DISTINCT name, setting FROM public.seen ORDER BY name")).toEqual([
    { name: "jit", setting: "off" },
    { name: "plan_cache_mode", setting: "auto" },
    { name: "statement_timeout", setting: "0" },
    ...(has("transaction_timeout") ? [{ name: "transaction_timeout", setting: "0" }] : []),
  ]);
});

test("each transaction of each command starts without the role's limits (fault 88)", async () => {
  const { call, database } = await fixture([library("alice", "Fire", { scenarios: [1, 2] })]);
  const proxy = await startPostgresProxy(database.url);
  const page = join(temporaryDirectory(), "page.html");
  const begun: string[] = [];
  proxy.judge = (statement) => {
    if (/^\s*(BEGIN|START TRANSACTION)/i.test(statement)) begun.push(statement);
    return "pass";
  };
  const commands = [
    ["migrate"],
    ["sync"],
    ["backfill"],
    ["status"],
    ["explain", "alice/Fire"],
    ["verify"],
    ["report", "--out", page],
    ["prune", "--older-than", "1s"],
  ];
  for (const command of commands) {
    begun.length = 0;
    const { code, stderr } = await call(command, { DATABASE_URL: proxy.url(database.url) });
    expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({ command, code: 0, stderr: "" });
    expect(begun.length, command.join(" ")).toBeGreaterThan(0);
    const limited = begun.filter((statement) => {
      const settings = ["statement_timeout = 0", "set_config('transaction_timeout', '0', true)", "jit = off"];
      return !settings.every((setting) => statement.includes(setting));
    });
    expect({ command, limited }).toEqual({ command, limited: [] });
  }
});
