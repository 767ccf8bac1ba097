import { expect, test } from "vitest";
import { databaseError, isConnectionLost } from "../../src/db/db-errors.ts";

const failure = (code: string) => Object.assign(new Error("said the server"), { code });

test.each(["57P01", "57P02", "57P03", "53300", "25P03", "25P04", "57P05", "08006", "ECONNRESET"])(
  "%s is retried in another session",
  (code) => expect(isConnectionLost(failure(code))).toBe(true),
);

test.each(["57014", "42501", "23505", "53100", "57P04"])("%s is not retried in another session", (code) =>
  expect(isConnectionLost(failure(code))).toBe(false),
);

test.each(["57014", "25P03", "25P04", "57P05"])("the message for %s refers to the time limits", (code) =>
  expect(databaseError("storing", failure(code)).message).toBe(
    `storing failed: said the server (${code}); check the time limits of this role and of the server, or who cancelled the statement`,
  ),
);
