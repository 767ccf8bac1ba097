import { expect } from "vitest";
import type { Ended } from "../support/cli.ts";

/** How a command reported its failure: the last line of its log. */
export function told({ code, stderr }: Ended): {
  readonly exit: number | null;
  readonly code: string;
  readonly said: string;
} {
  const line = JSON.parse(stderr.trim().split("\n").at(-1) || "{}");
  return { exit: code, code: line.code, said: line.error ?? line.msg };
}

/** What a command tells that ended because of the database, with this in its message. */
export const databaseFailed = (said: string | RegExp) => ({
  exit: 69,
  code: "database_failed",
  said: typeof said === "string" ? expect.stringContaining(said) : expect.stringMatching(said),
});
