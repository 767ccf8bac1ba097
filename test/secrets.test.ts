import fc from "fast-check";
import { expect, test } from "vitest";
import { databaseSecrets, maskDatabaseUrl, redact, redactorOf } from "../src/secrets.ts";

const KEY = 'ca"nary/k?y+1é';

test.each([
  ["as it is", KEY],
  ["in a URL", encodeURIComponent(KEY)],
  ["in a URL, in small hex digits", encodeURIComponent(KEY).replace(/%../g, (hex) => hex.toLowerCase())],
  ["in JSON", JSON.stringify({ key: KEY }).slice(8, -2)],
  ["in JSON in JSON", JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ["in Base64", Buffer.from(KEY).toString("base64")],
])("a secret is masked %s (fault 67)", (_, form) => {
  const masked = redact(`before ${form} after`, [KEY]);
  expect(masked.startsWith("before ***")).toBe(true);
  expect(masked).not.toContain(form);
});

test("a password in a Basic header leaves no readable part", () => {
  for (const user of ["a", "ab", "abc"]) {
    const header = Buffer.from(`${user}:correct horse battery`).toString("base64");
    const masked = redact(header, ["correct horse battery"]);
    expect(Buffer.from(masked.replace("***", ""), "base64").toString()).not.toContain("horse");
  }
});

test("every secret goes, also one that is part of another", () => {
  expect(redact("one-two one", ["one", "one-two"])).toBe("*** ***");
  expect(redact("a.c abc", ["a.c"])).toBe("*** abc");
});

test("without secrets, and for those too short to be any, the text stays", () => {
  expect(redact("as it was", [])).toBe("as it was");
  expect(redact("as it was", ["", "a", "it"])).toBe("as it was");
});

test("whatever the secret, it is gone", () => {
  const secret = fc.string({ unit: "binary", minLength: 3 }).filter((text) => !"***".includes(text));
  fc.assert(
    fc.property(fc.string(), secret, fc.string(), (before, hidden, after) => {
      fc.pre(!`${before}***${after}`.includes(hidden));
      expect(redactorOf([hidden])(`${before}${hidden}${after}`)).not.toContain(hidden);
    }),
  );
});

test("a database's secrets are its passwords, as written and as meant", () => {
  expect(databaseSecrets("postgres://user:p%40ss@host/db")).toEqual(["p%40ss", "p@ss"]);
  expect(databaseSecrets("postgres://user@host/db?password=s%26cret&sslmode=require")).toEqual(["s%26cret", "s&cret"]);
  expect(databaseSecrets("postgres://user:p/a#s@s@host/db")).toContain("p/a#s@s");
  expect(databaseSecrets("postgres://user:50%@host/db")).toContain("50%");
  expect(databaseSecrets("postgres://user@host/db")).toEqual([]);
});

test("a database URL is shown without its passwords", () => {
  expect(maskDatabaseUrl("postgres://user:p%40ss@host:5433/db?sslmode=require")).toBe(
    "postgres://user:***@host:5433/db?sslmode=require",
  );
  expect(maskDatabaseUrl("postgres://user@host/db?password=secret")).toBe("postgres://user@host/db?password=***");
  expect(maskDatabaseUrl("postgres://user@host/db")).toBe("postgres://user@host/db");
  expect(maskDatabaseUrl("postgres://user:secret@/db?host=/run")).toBe("postgres://user:***@/db?host=/run");
  expect(databaseSecrets("postgres://user:s%26cret@/db?host=/run")).toEqual(["s%26cret", "s&cret"]);
  expect(maskDatabaseUrl("postgres://user:p/a#s@host/db")).toBe("***");
});
