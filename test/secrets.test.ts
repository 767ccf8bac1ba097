import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor, databaseSecrets, environmentSecrets, maskDatabaseUrl } from "../src/secrets.ts";

const redact = (text: string, secrets: readonly string[]) => createRedactor(secrets)(text);

const KEY = 'ca"nary/k?y+1é';

test.each([
  ["as it is", KEY],
  ["in a URL", encodeURIComponent(KEY)],
  ["in a URL, in small hex digits", encodeURIComponent(KEY).replace(/%../g, (hex) => hex.toLowerCase())],
  ["in JSON", JSON.stringify({ key: KEY }).slice(8, -2)],
  ["in JSON with escaped slashes", JSON.stringify(KEY).slice(1, -1).replace("/", "\\/")],
  ["in JSON in JSON", JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
  ["in JSON as .NET writes it", "ca\\u0022nary/k?y\\u002B1\\u00E9"],
  ["in JSON as Python writes it", 'ca\\"nary/k?y+1\\u00e9'],
  ["in HTML", "ca&quot;nary/k?y+1&#233;"],
  ["in HTML as .NET writes it", "ca&quot;nary/k?y&#x2B;1&#xE9;"],
  ["in Base64", Buffer.from(KEY).toString("base64")],
])("masks a secret %s (fault 104)", (_, form) => {
  const masked = redact(`before ${form} after`, [KEY]);
  expect(masked.startsWith("before ***")).toBe(true);
  expect(masked).not.toContain(form);
});

const WITH_LINES = "first line\n\tand a second";

test("masks a secret of several lines in JSON, also within JSON (fault 104)", () => {
  const once = JSON.stringify(WITH_LINES);
  expect(redact(`${once} ${JSON.stringify(once)}`, [WITH_LINES])).toBe('"***" "\\"***\\""');
});

test("a password in a Basic header leaves no readable part", () => {
  for (const user of ["a", "ab", "abc"]) {
    const header = Buffer.from(`${user}:correct horse battery`).toString("base64");
    const masked = redact(header, ["correct horse battery"]);
    expect(Buffer.from(masked.replace("***", ""), "base64").toString()).not.toContain("horse");
  }
});

test("masks every secret, including one that is part of another", () => {
  expect(redact("number-one-two number-one", ["number-one", "number-one-two"])).toBe("*** ***");
  expect(redact("aaaa.cccc aaaabcccc", ["aaaa.cccc"])).toBe("*** aaaabcccc");
});

test("leaves text unchanged when there are no secrets", () => {
  expect(redact("as it was", [])).toBe("as it was");
  expect(redact("as it was: @", [""])).toBe("as it was: @");
});

test("masks a password of fewer than 8 characters only in a URL (fault 109)", () => {
  const mask = createRedactor(["dev", "p@ss", "sevenXX"]);
  expect(mask("dev p@ss sevenXX: develop, dev@host")).toBe("dev p@ss sevenXX: develop, dev@host");
  expect(mask("postgres://dev:dev@dev/dev and postgres://u:p%40ss@h, postgres://u:p@ss@h")).toBe(
    "postgres://dev:***@dev/dev and postgres://u:***@h, postgres://u:***@h",
  );
  expect(mask("postgres://u@h/db?password=sevenXX&sslpassword=dev?password=development")).toBe(
    "postgres://u@h/db?password=***&sslpassword=dev?password=development",
  );
  expect(redact("eightXXX", ["eightXXX"])).toBe("***");
});

test("treats a proxy password as a secret, also in the header that carries it", () => {
  const secrets = environmentSecrets({ HTTPS_PROXY: "http://user:s%40fe@proxy:3128", http_proxy: "http://proxy" });
  const mask = createRedactor(secrets);
  expect(mask("CONNECT by http://user:s%40fe@proxy:3128 failed")).toBe("CONNECT by http://user:***@proxy:3128 failed");
  expect(mask(`Basic ${Buffer.from("user:s@fe").toString("base64")}`)).not.toContain("dXNlcjpzQGZ");
});

test("hides the Basic header of a web hook (fault 247)", () => {
  const mask = createRedactor(environmentSecrets({ SIMCAT_NOTIFY_URL: "https://user:s%40fe@hooks.test/path" }));
  expect(mask(`Basic ${btoa("user:s@fe")}`)).not.toContain("dXNlcjpzQGZ");
});

test("masks any secret", () => {
  const secret = fc.string({ unit: "binary", minLength: 8 }).filter((text) => !"***".includes(text));
  fc.assert(
    fc.property(fc.string(), secret, fc.string(), (before, hidden, after) => {
      fc.pre(!`${before}***${after}`.includes(hidden));
      expect(createRedactor([hidden])(`${before}${hidden}${after}`)).not.toContain(hidden);
    }),
  );
});

test("the secrets of a database URL are its passwords, encoded and decoded", () => {
  expect(databaseSecrets("postgres://user:p%40ss@host/db")).toEqual(["p%40ss", "p@ss"]);
  expect(databaseSecrets("postgres://user@host/db?password=s%26cret&sslmode=require")).toEqual(["s%26cret", "s&cret"]);
  expect(databaseSecrets("postgres://user:p/a#s@s@host/db")).toContain("p/a#s@s");
  expect(databaseSecrets("postgres://user:50%@host/db")).toContain("50%");
  expect(databaseSecrets("postgres://user@host/db")).toEqual([]);
});

test("shows a database URL without its passwords", () => {
  expect(maskDatabaseUrl("postgres://user:p%40ss@host:5433/db?sslmode=require")).toBe(
    "postgres://user:***@host:5433/db?sslmode=require",
  );
  expect(maskDatabaseUrl("postgres://user@host/db?password=secret")).toBe("postgres://user@host/db?password=***");
  expect(maskDatabaseUrl("postgres://user@host/db")).toBe("postgres://user@host/db");
  expect(maskDatabaseUrl("postgres://user:secret@/db?host=/run")).toBe("postgres://user:***@/db?host=/run");
  expect(databaseSecrets("postgres://user:s%26cret@/db?host=/run")).toEqual(["s%26cret", "s&cret"]);
  expect(maskDatabaseUrl("postgres://user:p/a#s@host/db")).toBe("postgres://user:***@host/db");
  expect(maskDatabaseUrl("postgres://postgres:postgres@postgres/postgres")).toBe(
    "postgres://postgres:***@postgres/postgres",
  );
});
