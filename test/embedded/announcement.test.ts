import { expect, test } from "vitest";
import { callCli } from "../support/call-cli.ts";
import { newStateDir } from "./keepers.ts";

test("commands print where the embedded database is when they create it, and else only with --verbose", async () => {
  const environment = { SIMCAT_STATE_DIR: newStateDir(), SIMCAT_LOG_FORMAT: "pretty" };
  const linesOf = async (...args: string[]) => {
    const { code, stderr } = await callCli(args, environment);
    return { code, lines: stderr.split("\n").map((line) => line.replace(/ (?:\(first time|at postgres:).*/, "")) };
  };
  const where = "the embedded database is";
  expect(await linesOf("migrate")).toEqual({ code: 0, lines: ["creating the embedded Postgres", where, ""] });
  expect(await linesOf("status")).toEqual({ code: 0, lines: [""] });
  expect(await linesOf("status", "--verbose")).toEqual({ code: 0, lines: [where, ""] });
});
